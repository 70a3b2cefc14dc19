// The pass reads before it writes, so that the lines come into the caches: plain fills and copies of this length go
// past them, and would leave there what was there before.
#include "tools/bench/cache_flush.h"

#include <algorithm>

namespace tessera::tool {

namespace {

constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
/// No GPU's cache is larger, where the driver does not tell its size.
constexpr std::uint64_t kUnknown = std::uint64_t{512} << 20;
constexpr std::uint64_t kThreadsOfACache = 4;
constexpr std::uint64_t kGroupSize = 256;
constexpr std::uint64_t kGroupsPerUnit = 16;

KernelSource flush_source() {
  return {.name = "flush",
          .parameters = {output<std::uint32_t>("words"), scalar<std::uint64_t>("count")},
          .opencl =
              "__kernel void flush(__global uint* words, ulong count) {\n"
              "  const ulong part = (count + get_num_groups(0) - 1) / get_num_groups(0);\n"
              "  const ulong first = part * get_group_id(0), last = min(first + part, count);\n"
              "  for (ulong i = first + get_local_id(0); i < last; i += get_local_size(0)) ++words[i];\n"
              "}\n",
          .cuda =
              "extern \"C\" __global__ void flush(unsigned* words, unsigned long long count) {\n"
              "  const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;\n"
              "  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count;\n"
              "       i += step) ++words[i];\n"
              "}\n",
          .cpu =
              [](const WorkGroup& group, std::span<std::uint32_t> words, std::uint64_t count) {
                const std::uint64_t first = count * group.id.x / group.groups.x;
                const std::uint64_t last = count * (group.id.x + 1) / group.groups.x;
                for (std::uint64_t i = first; i < last; ++i) ++words[i];
              },
          .label = "emptying the caches"};
}

LaunchShape flush_shape(const DeviceInfo& info) {
  const std::uint64_t units = std::max(info.compute_units, 1U);
  if (info.kind == DeviceKind::cpu) return {.groups = {units}, .group_size = {1}};
  return {.groups = {units * kGroupsPerUnit},
          .group_size = {std::min(kGroupSize, std::max<std::uint64_t>(info.max_group_size, 1))}};
}

}  // namespace

std::uint64_t flush_bytes_of(const DeviceInfo& info) noexcept {
  std::uint64_t bytes = kUnknown;
  if (info.cache_bytes > 0) {
    const std::uint64_t caches = info.kind == DeviceKind::cpu
                                     ? (info.compute_units + kThreadsOfACache - 1) / kThreadsOfACache
                                     : std::uint64_t{0};
    bytes = std::max(kLeast, info.cache_bytes * std::max<std::uint64_t>(caches, 2));
  }
  if (info.max_allocation_bytes > 0) bytes = std::min(bytes, info.max_allocation_bytes);
  if (info.memory_total_bytes > 0) bytes = std::min(bytes, info.memory_total_bytes / 4);
  return bytes;
}

CacheFlush::CacheFlush(const Device& device, const DeviceInfo& info)
    : kernel_(device.compile(flush_source())),
      shape_(flush_shape(info)),
      words_(device.allocate<std::uint32_t>(flush_bytes_of(info) / sizeof(std::uint32_t),
                                            {.label = "emptying the caches"})) {
  Queue queue(device, {.label = "emptying the caches"});
  queue.fill(words_, 0U);
  queue.finish();
}

void CacheFlush::enqueue(Queue& queue) const {
  queue.launch(kernel_, shape_, words_, static_cast<std::uint64_t>(words_.size()));
}

}  // namespace tessera::tool
