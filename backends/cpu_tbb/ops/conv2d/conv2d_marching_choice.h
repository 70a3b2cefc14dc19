// Where the variant "marching" is the fastest, and how it takes filters of one weight.
#pragma once

#include <tessera/ops/conv2d.h>

#include "backend/variant.h"

namespace tessera::cpu_tbb {

/// A filter of one weight takes each pixel for itself, so that rows behind each other may count as one. Rows shorter
/// than a vector or two are mostly overhead: as many are joined as divide all rows and have up to 4096 pixels together.
[[nodiscard]] Conv2d with_rows_joined(Conv2d problem);

/// Over many rows of a middle image 3 x 3 waits for memory, which "unrolled" reads row after row: 8 rows at a time, and
/// as many written, are more than prefetching follows. On two threads of an EPYC with AVX-512 1000 x 600 in float took
/// 1.2 times as long as with "unrolled", 1000 x 1200 1.4 times, 1000 x 69 1.3 times, 256 x 69 0.6 times (no file).
/// Narrow images of 8 and 16 bits do not gain, nor do low ones: 36 images of 42 x 418 took 0.82 of its time.
[[nodiscard]] backend::Verdict marching_pays(const Conv2d& problem, int threads);

}  // namespace tessera::cpu_tbb
