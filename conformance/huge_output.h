// Outputs of more than 2^31 elements, of which stretches are looked at: those that a kernel with an index of 32 bits
// gets wrong, and the poison around the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "conformance/compare.h"
#include "conformance/guarded_buffer.h"
#include "conformance/sparse_buffer.h"

namespace tessera::conformance {

/// Elements of poison in front of a huge output and behind it, which belong to its buffer.
inline constexpr std::size_t kHugeGuard = 64;

/// A stretch of the buffer that is looked at; where nothing is expected, poison must stand.
struct Stretch {
  std::size_t first = 0;
  std::vector<std::optional<Expected>> elements;
};

/// The two stretches of poison around an output of so many elements.
[[nodiscard]] std::vector<Stretch> guards_around(std::size_t elements);

/// Downloads the stretch and compares it. `name` of the output, "C", is for sentences. Blocks.
template <class T>
void check_stretch(const SparseBuffer<T>& output, Queue& queue, const Stretch& stretch, double error_factor,
                   const std::string& name, Comparison& comparison) {
  const std::vector<T> values = output.read(queue, stretch.first, stretch.elements.size());
  const T unwritten = poison<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_poison = std::memcmp(&values[i], &unwritten, sizeof(T)) == 0;
    const auto index = static_cast<std::int64_t>(stretch.first + i) - static_cast<std::int64_t>(kHugeGuard);
    const std::string element = "element " + std::to_string(index) + " of " + name + " ";
    if (!stretch.elements[i]) {
      if (!is_poison) comparison.fail(element + "lies outside of it and was written");
      continue;
    }
    Expected expected = *stretch.elements[i];
    expected.bound *= error_factor;
    const auto value = static_cast<double>(values[i]);
    if (comparison.accepts(value, expected)) continue;
    comparison.fail(element + (is_poison ? "was not written" : describe_difference(value, expected)));
  }
}

/// The stretches' bits, one behind the other. Blocks.
template <class T>
[[nodiscard]] std::vector<std::byte> bits_of(const SparseBuffer<T>& output, Queue& queue,
                                             const std::vector<Stretch>& stretches) {
  std::vector<std::byte> bits;
  for (const Stretch& stretch : stretches) {
    const std::vector<T> values = output.read(queue, stretch.first, stretch.elements.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    bits.insert(bits.end(), bytes, bytes + values.size() * sizeof(T));
  }
  return bits;
}

/// "", or the sentence that says why buffers of so many bytes are too much for the device.
[[nodiscard]] std::string why_too_large(const Device& device, std::initializer_list<std::uint64_t> bytes);

}  // namespace tessera::conformance
