// Asks for registers, memory and how many groups fit. What the driver does not answer stays absent: a watch must not
// make a run fail.
#include "cuda_launch_watch.h"

#include <algorithm>
#include <optional>

#include "cuda_queue.h"

namespace tessera::cuda {

namespace {

std::uint64_t volume(const std::array<unsigned, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

LaunchFacts ask(const Context& context, CUfunction function, std::uint64_t group_size, unsigned dynamic_bytes) {
  const DriverApi& api = context.api();
  const auto number = [&](CUfunction_attribute which) -> std::optional<std::uint64_t> {
    int value = 0;
    if (api.cuFuncGetAttribute(&value, which, function) != CUDA_SUCCESS || value < 0) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  };
  LaunchFacts facts;
  facts.group_size = group_size;
  const char* name = nullptr;
  if (api.cuFuncGetName != nullptr && api.cuFuncGetName(&name, function) == CUDA_SUCCESS && name != nullptr)
    facts.function = name;
  facts.registers = number(CU_FUNC_ATTRIBUTE_NUM_REGS);
  facts.spilled_bytes = number(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  if (const auto static_bytes = number(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))
    facts.local_memory_bytes = *static_bytes + dynamic_bytes;

  int groups = 0;
  if (api.cuOccupancyMaxActiveBlocksPerMultiprocessor == nullptr ||
      api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&groups, function, static_cast<int>(group_size), dynamic_bytes) !=
          CUDA_SUCCESS ||
      groups < 0)
    return facts;
  facts.groups_per_unit = static_cast<std::uint64_t>(groups);
  int most_threads = 0;
  if (api.cuDeviceGetAttribute(&most_threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, context.device()) !=
          CUDA_SUCCESS ||
      most_threads <= 0)
    return facts;
  // Warps are resident whole.
  const std::uint64_t warp = std::max(context.limits().warp_size, 1U);
  const std::uint64_t threads = (group_size + warp - 1) / warp * warp * *facts.groups_per_unit;
  facts.occupancy = static_cast<double>(threads) / most_threads;
  return facts;
}

}  // namespace

void LaunchWatch::note(const Context& context, CUfunction function, const LaunchGrid& grid) {
  const std::uint64_t group_size = volume(grid.group_size);
  const auto [place, is_new] = places_.try_emplace(Key{function, group_size, grid.dynamic_shared_bytes}, facts_.size());
  if (is_new) facts_.push_back(ask(context, function, group_size, grid.dynamic_shared_bytes));
  LaunchFacts& facts = facts_[place->second];
  ++facts.launches;
  facts.groups = std::max(facts.groups, volume(grid.groups));
}

}  // namespace tessera::cuda
