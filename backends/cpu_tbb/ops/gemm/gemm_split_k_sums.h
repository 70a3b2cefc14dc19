// The end of the variant "split_k": the parts' sums are added up, in the best instruction set that the processor has.
#pragma once

#include <cstdint>

namespace tessera::cpu_tbb {

/// total[i] = parts[i] + parts[part_step + i] + ..., in that order, for `count` elements. `total` may be `parts`, and
/// `count` is a multiple of the elements of a vector.
template <class T>
void add_parts(const T* parts, std::int64_t part_step, std::int64_t part_count, std::int64_t count, T* total);

}  // namespace tessera::cpu_tbb
