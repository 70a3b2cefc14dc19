// What the runs of all operators share: the kernel that they have and what may take its place, inputs that must stay as
// they are, and outputs as bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/compare.h"
#include "conformance/guarded_buffer.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

template <class Problem>
class KernelRun : public Run {
 public:
  [[nodiscard]] const KernelInfo& info() const override { return kernel_.info(); }
  void remember_time(const Device& device, double seconds) override {
    tessera::remember_time(kernel_, device, seconds);
  }
  void change_kernel(const Device& device, const KernelOptions& options) override {
    kernel_ = device.kernel(kernel_.problem(), options);
    kernel_changed();
  }
  void share_kernel(const Run& other) override {
    kernel_ = dynamic_cast<const KernelRun&>(other).kernel_;
    kernel_changed();
  }

 protected:
  explicit KernelRun(OperatorKernel<Problem> kernel) : kernel_(std::move(kernel)) {}
  [[nodiscard]] const OperatorKernel<Problem>& kernel() const noexcept { return kernel_; }
  /// Another kernel has taken the place of the one before: what was made for that one is of no use any more.
  virtual void kernel_changed() {}

 private:
  OperatorKernel<Problem> kernel_;
};

/// Downloads an input and fails the comparison if it or its guard zones are not as they were. Blocks.
template <class T>
void check_input(const GuardedBuffer<T>& input, Queue& queue, Comparison& comparison) {
  const std::vector<T> whole = input.download(queue);
  std::string damage = input.find_damage(whole);
  if (damage.empty()) damage = input.find_change(whole, [](std::size_t) { return false; });
  if (!damage.empty()) comparison.fail(std::move(damage));
}

/// An output as it is, guard zones included. Blocks.
template <class T>
[[nodiscard]] std::vector<std::byte> bits_of(const GuardedBuffer<T>& output, Queue& queue) {
  const std::vector<T> whole = output.download(queue);
  std::vector<std::byte> bits(whole.size() * sizeof(T));
  std::memcpy(bits.data(), whole.data(), bits.size());
  return bits;
}

/// Of several outputs, one behind the other.
[[nodiscard]] inline std::vector<std::byte> joined(std::initializer_list<std::vector<std::byte>> parts) {
  std::size_t size = 0;
  for (const std::vector<std::byte>& part : parts) size += part.size();
  std::vector<std::byte> all(size);
  auto behind = all.begin();
  for (const std::vector<std::byte>& part : parts) behind = std::copy(part.begin(), part.end(), behind);
  return all;
}

}  // namespace tessera::conformance
