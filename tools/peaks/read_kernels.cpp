// Sources of the kernel that reads. What was read is combined by exclusive or, which costs less than any load.
#include "tools/peaks/read_kernels.h"

#include <algorithm>

namespace tessera::tool {

namespace {

/// As peak_kernels.cpp fills a GPU.
constexpr std::uint64_t kGroupSize = 256;
constexpr std::uint64_t kGroupsPerUnit = 16;

/// Neighbours read neighbouring words of 16 bytes.
constexpr const char* kOpenclOnGpus =
    "__kernel void peak_read(__global const uint4* from, __global uint* results, ulong piece, uint turn,\n"
    "                        int times) {\n"
    "  const ulong groups = get_num_groups(0), words = piece / sizeof(uint4);\n"
    "  ulong place = get_group_id(0);\n"
    "  uint4 all = (uint4)(0);\n"
    "  for (int time = 0; time < times; ++time) {\n"
    "    __global const uint4* own = from + place * words;\n"
    "    for (ulong i = get_local_id(0); i < words; i += get_local_size(0)) all ^= own[i];\n"
    "    place = (place + turn) % groups;\n"
    "  }\n"
    "  results[get_global_id(0)] = all.x ^ all.y ^ all.z ^ all.w;\n"
    "}\n";

/// One work-item reads a piece, in vectors as wide as any CPU has.
constexpr const char* kOpenclOnCpus =
    "__kernel void peak_read(__global const uint16* from, __global uint* results, ulong piece, uint turn,\n"
    "                        int times) {\n"
    "  const ulong groups = get_num_groups(0), words = piece / sizeof(uint16);\n"
    "  ulong place = get_group_id(0);\n"
    "  uint16 a = (uint16)(0), b = a, c = a, d = a;\n"
    "  for (int time = 0; time < times; ++time) {\n"
    "    __global const uint16* own = from + place * words;\n"
    "    for (ulong i = 0; i < words; i += 4) {\n"
    "      a ^= own[i];\n"
    "      b ^= own[i + 1];\n"
    "      c ^= own[i + 2];\n"
    "      d ^= own[i + 3];\n"
    "    }\n"
    "    place = (place + turn) % groups;\n"
    "  }\n"
    "  const uint16 all = a ^ b ^ c ^ d;\n"
    "  const uint8 half_of_it = all.lo ^ all.hi;\n"
    "  const uint4 quarter = half_of_it.lo ^ half_of_it.hi;\n"
    "  results[get_global_id(0)] = quarter.x ^ quarter.y ^ quarter.z ^ quarter.w;\n"
    "}\n";

constexpr const char* kCuda =
    "extern \"C\" __global__ void peak_read(const unsigned* from, unsigned* results, unsigned long long piece,\n"
    "                                     unsigned turn, int times) {\n"
    "  const unsigned long long words = piece / sizeof(uint4);\n"
    "  unsigned long long place = blockIdx.x;\n"
    "  uint4 all = make_uint4(0, 0, 0, 0);\n"
    "  for (int time = 0; time < times; ++time) {\n"
    "    const uint4* own = (const uint4*)from + place * words;\n"
    "    for (unsigned long long i = threadIdx.x; i < words; i += blockDim.x) {\n"
    "      const uint4 word = own[i];\n"
    "      all.x ^= word.x;\n"
    "      all.y ^= word.y;\n"
    "      all.z ^= word.z;\n"
    "      all.w ^= word.w;\n"
    "    }\n"
    "    place = (place + turn) % gridDim.x;\n"
    "  }\n"
    "  results[blockIdx.x * blockDim.x + threadIdx.x] = all.x ^ all.y ^ all.z ^ all.w;\n"
    "}\n";

void read_on_cpu(const WorkGroup& group, std::span<const std::uint32_t> from, std::span<std::uint32_t> results,
                 std::uint64_t piece, std::uint32_t turn, std::int32_t times) {
  const std::uint64_t words = piece / sizeof(std::uint32_t);
  const auto own = [&](std::uint64_t place) { return from.subspan(place * words, words); };
  if (turn == 0) {
    results[group.id.x] = cpu_read(own(group.id.x), times);
    return;
  }
  std::uint64_t place = group.id.x;
  std::uint32_t all = 0;
  for (std::int32_t time = 0; time < times; ++time) {
    all ^= cpu_read(own(place), 1);
    place = (place + turn) % group.groups.x;
  }
  results[group.id.x] = all;
}

}  // namespace

ReadProgram read_program(const DeviceInfo& info) {
  const bool is_cpu = info.kind == DeviceKind::cpu;
  ReadProgram program;
  program.source = {
      .name = "peak_read",
      .parameters = {input<std::uint32_t>("from"), output<std::uint32_t>("results"), scalar<std::uint64_t>("piece"),
                     scalar<std::uint32_t>("turn"), scalar<std::int32_t>("times")},
      .opencl = is_cpu ? kOpenclOnCpus : kOpenclOnGpus,
      .cuda = kCuda,
      .cpu = read_on_cpu,
      .label = "peak of reads"};
  const std::uint64_t units = std::max(info.compute_units, 1U);
  program.shape.groups.x = is_cpu ? units : units * kGroupsPerUnit;
  program.shape.group_size.x = is_cpu ? 1 : std::min(kGroupSize, std::max<std::uint64_t>(info.max_group_size, 1));
  return program;
}

}  // namespace tessera::tool
