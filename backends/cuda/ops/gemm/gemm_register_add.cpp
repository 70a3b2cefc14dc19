// How many threads share a run of C.
#include "ops/gemm/gemm_register_add.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "mathematics/division.h"

namespace tessera::cuda {
namespace {

using mathematics::ceil_div;

/// Parts that one thread asks for at once; where there are more, threads share them.
constexpr std::int64_t kPartsOfThread = 8;
constexpr std::int32_t kMostSlices = 32;
/// Threads of a multiprocessor that keep its memory busy: more need not share.
constexpr std::int64_t kBusyThreads = 1024;
constexpr std::int64_t kMostRuns = 64;

}  // namespace

template <class T>
void launch_gemm_add(CudaQueue& queue, CUfunction function, GemmAddArguments<T> add, const DeviceLimits& card) {
  const std::int64_t runs = ceil_div(add.gemm.n, std::int64_t{4});
  const double threads = static_cast<double>(runs) * static_cast<double>(add.gemm.m) * static_cast<double>(add.batch);
  add.slices = 1;
  while (add.slices < kMostSlices && add.slices * kPartsOfThread < add.splits &&
         threads * add.slices < static_cast<double>(kBusyThreads * card.multiprocessors)) {
    add.slices *= 2;
  }
  const auto of_row =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(runs, 1))));
  add.runs = static_cast<std::int32_t>(std::min({of_row, kMostRuns, std::int64_t{kGemmAddThreads} / add.slices}));
  const std::int64_t rows = kGemmAddThreads / add.slices / add.runs;
  const auto groups = [&](std::int64_t extent, std::int64_t step, std::size_t axis) {
    return static_cast<unsigned>(
        std::min<std::int64_t>(ceil_div(extent, step), static_cast<std::int64_t>(card.groups[axis])));
  };
  LaunchGrid grid;
  grid.groups = {groups(runs, add.runs, 0), groups(add.gemm.m, rows, 1), static_cast<unsigned>(add.batch)};
  grid.group_size[0] = kGemmAddThreads;
  grid.overlaps = card.compute_capability_major >= 9;
  void* parameters[] = {&add};
  queue.launch(function, grid, parameters);
}

template void launch_gemm_add(CudaQueue&, CUfunction, GemmAddArguments<float>, const DeviceLimits&);
template void launch_gemm_add(CudaQueue&, CUfunction, GemmAddArguments<double>, const DeviceLimits&);

}  // namespace tessera::cuda
