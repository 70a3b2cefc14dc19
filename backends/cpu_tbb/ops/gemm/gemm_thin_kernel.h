// The inner part of the variant "thin": scalar products of long rows with a few long columns, in the best instruction
// set that the processor has.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// sums[row * sums_step + column] = the scalar product of a row of `rows` with a column of `columns`. Both lie in
/// memory one element after the other. The order of a sum depends on its length alone.
template <class T>
struct ThinProduct {
  const T* rows = nullptr;  ///< element (row, p) at rows[row * row_step + p]
  std::int64_t row_step = 0;
  const T* columns = nullptr;  ///< element (p, column) at columns[column * column_step + p]
  std::int64_t column_step = 0;
  T* sums = nullptr;
  std::int64_t sums_step = 0;
  std::int64_t row_count = 0;
  std::int64_t column_count = 0;
  std::int64_t length = 0;
  bool is_far = false;  ///< rows come from behind the second-level cache
};
template <class T>
void multiply_thin(const ThinProduct<T>& product);

}  // namespace tessera::cpu_tbb
