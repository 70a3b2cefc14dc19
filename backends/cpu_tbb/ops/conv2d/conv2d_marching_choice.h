// Where the variant "marching" is the fastest, and how it takes filters of one weight.
#pragma once

#include <tessera/ops/conv2d.h>

#include "backend/variant.h"

namespace tessera::cpu_tbb {

/// A filter of one weight takes each pixel for itself, so that rows behind each other may count as one. Rows shorter
/// than a vector or two are mostly overhead: as many are joined as divide all rows and have up to 4096 pixels together.
[[nodiscard]] Conv2d with_rows_joined(Conv2d problem);

/// 8 rows are written at a time, and 10 read under 3 x 3. Where they lie whole pages apart, all fall into the same sets
/// of the first-level cache, which has fewer ways. On two threads of an EPYC with AVX-512 1024 x 1024 in float takes
/// 1.1 times as long as with "unrolled", 1500 x 1024 1.2 times, 1000 x 1000 0.7 times (no file). Where image and output
/// fill most of the last level, rows that are read in order arrive sooner: 1500 x 1500 took 1.2 times as long.
[[nodiscard]] backend::Verdict marching_pays(const Conv2d& problem, int threads);

}  // namespace tessera::cpu_tbb
