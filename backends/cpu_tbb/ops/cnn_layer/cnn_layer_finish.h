// Bias, ReLU and max-pool of sums that lie in a buffer, for the variants that compute in vectors.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// What vectors may read behind the last sum, in elements.
inline constexpr std::int64_t kSumsSlack = 64;

/// One row of outputs of one channel.
template <class T>
struct FinishedRow {
  const T* sums = nullptr;  ///< the first row of the pool's windows, from the first window on
  std::int64_t sums_step = 0;
  std::int64_t pool_size = 1;
  std::int64_t pool_stride = 1;
  T bias = 0;
  bool relu = false;
  T* scratch = nullptr;  ///< as long as a row of sums, and kSumsSlack; not used for windows of 1 side by side
  T* output = nullptr;
  std::int64_t output_step = 1;
  std::int64_t columns = 0;  ///< of outputs
};
template <class T>
void finish_row(const FinishedRow<T>& row);

/// Is every one of `count` numbers finite?
template <class T>
[[nodiscard]] bool all_finite(const T* numbers, std::int64_t count);

}  // namespace tessera::cpu_tbb
