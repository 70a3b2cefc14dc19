// What it costs to give work to threads, and what a product costs, in one unit: multiply-adds of one thread. A core
// with AVX-512 does 50 to 100 of them in a nanosecond.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// Giving so many threads their parts and waiting for the last: 2 microseconds for 2, and 30 for 16 (a Xeon).
[[nodiscard]] inline double hand_over(std::int64_t threads) noexcept {
  constexpr double kPerThread = 100'000;
  constexpr double kTwiceAsDear = 32;  // so many threads cost twice as much each
  const auto count = static_cast<double>(threads);
  return threads < 2 ? 0 : kPerThread * count * (1 + count / kTwiceAsDear);
}

/// What a product of m x n sums over k costs beside its multiply-adds. Each element of A is read, and perhaps packed,
/// in the time of 11 of them, each of B in that of 14, or if it is turned of 20, and each of C is stored in that of 24.
/// With 8 for B, which had fitted 16 cores of a Xeon, 346 x 611 x 2073 floats were cut into two blocks of 173 rows that
/// both pack all of B, and took 2.2 ms on two cores of an EPYC with AVX-512; in blocks of columns they take 1.95
/// (without a file).
inline constexpr double kOfElementOfA = 11, kOfElementOfB = 14, kOfTurnedElementOfB = 20, kOfElementOfC = 24;
[[nodiscard]] inline double product_time(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                         double of_element_of_b = kOfElementOfB) noexcept {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns), k = static_cast<double>(depth);
  constexpr double kToBegin = 1 << 13;  // a tenth of a microsecond
  return (m + of_element_of_b) * (n + kOfElementOfA) * k + kOfElementOfC * m * n + kToBegin;
}

}  // namespace tessera::cpu_tbb
