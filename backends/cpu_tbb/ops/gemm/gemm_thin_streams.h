// The other inner part of the variant "thin": sums of whole rows of the large operand, each times a number, in the best
// instruction set that the processor has.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// sums[one * sums_step + column] = the sum over p of factor (one, p) times element (p, column) of the matrix. Each sum
/// is taken over p in order, from 0.
template <class T>
struct ThinStreams {
  /// Of `count`.
  static constexpr std::int64_t kMost = 8;

  const T* matrix = nullptr;  ///< element (p, column) at matrix[p * row_step + column]
  std::int64_t row_step = 0;
  const T* factors = nullptr;  ///< factor (one, p) at factors[one * factor_step + p * factor_p_step]
  std::int64_t factor_step = 0;
  std::int64_t factor_p_step = 0;
  T* sums = nullptr;
  std::int64_t sums_step = 0;
  std::int64_t count = 0;    ///< of sums of each column, 1 to kMost
  std::int64_t columns = 0;  ///< so many that their sums stay in the first-level cache
  std::int64_t length = 0;   ///< of sums
};
template <class T>
void add_streams(const ThinStreams<T>& streams);

}  // namespace tessera::cpu_tbb
