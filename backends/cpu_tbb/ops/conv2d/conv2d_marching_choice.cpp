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
  constexpr std::int64_t kPage = 4096, kFewestRowsOfThread = 500;
  constexpr double kMuchCached = 0.6;
  const bool is_3_by_3 = problem.filter_height == 3 && problem.filter_width == 3;
  const bool is_read_in_place = problem.type == DataType::float32 || problem.type == DataType::int32;
  const std::int64_t rows = problem.batch * problem.output_height();
  if (!is_3_by_3 || !is_read_in_place || streams_output(problem) || rows / threads < kFewestRowsOfThread)
    return backend::Verdict::yes();
  const auto are_pages = [](std::int64_t width) { return width * 4 % kPage == 0; };
  if (are_pages(problem.width) && are_pages(problem.output_width())) {
    return backend::Verdict::no(
        backend::sentence("conv2d has ", rows, " rows of a multiple of ", kPage,
                          " bytes, which fall on each other in the first-level cache, and with 3 x 3 unrolled takes "
                          "fewer of them at a time"));
  }
  if (moved_bytes(problem) > kMuchCached * most_cached_bytes()) {
    return backend::Verdict::no(backend::sentence("conv2d moves ", moved_bytes(problem), " bytes for ", threads,
                                                  " threads, most of what the last-level cache holds, and with 3 x 3 "
                                                  "unrolled reads it in order"));
  }
  return backend::Verdict::yes();
}

}  // namespace tessera::cpu_tbb
