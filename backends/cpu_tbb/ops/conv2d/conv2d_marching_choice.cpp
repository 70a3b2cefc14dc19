// The choice of "marching" by measured limits.
#include "ops/conv2d/conv2d_marching_choice.h"

#include <algorithm>
#include <cstdint>

#include "backend/sentence.h"
#include "ops/conv2d/conv2d_strips.h"

namespace tessera::cpu_tbb {

Conv2d with_rows_joined(Conv2d problem) {
  constexpr std::int64_t kLongEnough = 64, kLongest = 4096;
  if (problem.filter.size() != 1 || problem.width >= kLongEnough || problem.width == 0) return problem;
  const std::int64_t rows = problem.batch * problem.height;
  std::int64_t joined = std::clamp<std::int64_t>(kLongest / problem.width, 1, std::max<std::int64_t>(rows, 1));
  while (rows % joined != 0) --joined;
  problem.batch = 1;
  problem.height = rows / joined;
  problem.width *= joined;
  return problem;
}

backend::Verdict marching_pays(const Conv2d& problem, int threads) {
  constexpr std::int64_t kFewestRowsOfThread = 320, kNarrow = 512, kLowImage = 64;
  if (problem.filter_height != 3 || problem.filter_width != 3 || streams_output(problem))
    return backend::Verdict::yes();
  const bool is_small_type = problem.type == DataType::uint8 || problem.type == DataType::int16;
  if (is_small_type && problem.width < kNarrow) return backend::Verdict::yes();
  // At an image's first and last row "unrolled" tests every tap.
  if (problem.border == Border::same && problem.height < kLowImage) return backend::Verdict::yes();
  const std::int64_t rows = problem.batch * problem.output_height();
  if (rows / threads < kFewestRowsOfThread) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("conv2d has ", rows, " rows for ", threads, " threads, and from ",
                                                kFewestRowsOfThread,
                                                " for each on unrolled reads memory faster with 3 x 3"));
}

}  // namespace tessera::cpu_tbb
