// Seeded inputs that are the same on every platform and compiler: the standard's distributions differ between
// libraries, so none is used. A value depends on the seed and its index alone, so that any part of an input can be made
// without the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::conformance {

/// 64 well-mixed bits for element `index` of the sequence named by `seed` (splitmix64, entered at any point).
[[nodiscard]] std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) noexcept;

/// A number in [0, limit), limit at least 1. Its bias is below limit / 2^32: for choosing samples, limit < 2^32.
[[nodiscard]] std::uint64_t random_below(std::uint64_t limit, std::uint64_t seed, std::uint64_t index) noexcept;

/// A number evenly in (0, 1).
[[nodiscard]] double random_even(std::uint64_t seed, std::uint64_t index) noexcept;

/// A normally distributed number of mean 0 and deviation 1, by Box and Muller of two sequences.
[[nodiscard]] double random_normal(std::uint64_t angle_seed, std::uint64_t radius_seed, std::uint64_t index) noexcept;

/// Which values an input holds.
enum class Values : std::uint8_t {
  symmetric,  ///< evenly in [-1, 1): sums cancel
  positive,   ///< evenly in [0, 1): errors of one sign add up
  wide,       ///< signs and magnitudes from 2^-20 to 2^20
  tiny,       ///< products lie below the smallest normal number
  large,      ///< products come near the largest number, sums of 64 of them do not overflow
};
[[nodiscard]] std::string_view to_string(Values values) noexcept;

/// Fills `out` with the first elements of a sequence. Every value has as many significant bits as T holds.
template <class T>
void fill_values(std::span<T> out, Values values, std::uint64_t seed);

/// Fills `out` with integers from the whole range of T.
template <class T>
void fill_integers(std::span<T> out, std::uint64_t seed) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(random_bits(seed, i) >> 13);
}

extern template void fill_values(std::span<float>, Values, std::uint64_t);
extern template void fill_values(std::span<double>, Values, std::uint64_t);

}  // namespace tessera::conformance
