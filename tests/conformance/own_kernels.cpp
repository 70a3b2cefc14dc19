// The sources of the tests' own kernels.
#include "own_kernels.h"

namespace tessera::testing_support {

KernelSource saxpy_source() {
  return {.name = "saxpy",
          .parameters = {input<float>("x"), output<float>("y"), scalar<float>("factor"), scalar<std::int64_t>("count")},
          .opencl = R"(
__kernel void saxpy(__global const float* x, __global float* y, float factor, long count) {
  const long i = get_global_id(0);
  if (i < count) y[i] = factor * x[i] + y[i];
})",
          .cuda = R"(
extern "C" __global__ void saxpy(const float* x, float* y, float factor, long long count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) y[i] = factor * x[i] + y[i];
})",
          .cpu = [](const WorkGroup& group, std::span<const float> x, std::span<float> y, float factor,
                    std::int64_t count) {
            group.for_each_item([&](const WorkItem& item) {
              const auto i = static_cast<std::int64_t>(item.global.x);
              if (i < count) y[i] = factor * x[i] + y[i];
            });
          }};
}

KernelSource group_sum_source() {
  return {.name = "group_sum",
          .parameters = {input<std::int32_t>("x"), output<std::int32_t>("sums"), local<std::int32_t>("scratch"),
                         scalar<std::int64_t>("count")},
          .opencl = R"(
__kernel void group_sum(__global const int* x, __global int* sums, __local int* scratch, long count) {
  const size_t item = get_local_id(0);
  const long i = get_global_id(0);
  scratch[item] = i < count ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) scratch[item] += scratch[item + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) sums[get_group_id(0)] = scratch[0];
})",
          .cuda = R"(
extern "C" __global__ void group_sum(const int* x, int* sums, unsigned scratch_offset, long long count) {
  extern __shared__ unsigned char shared[];
  int* scratch = reinterpret_cast<int*>(shared + scratch_offset);
  const unsigned item = threadIdx.x;
  const long long i = blockIdx.x * (long long)blockDim.x + item;
  scratch[item] = i < count ? x[i] : 0;
  __syncthreads();
  for (unsigned half_size = blockDim.x / 2; half_size > 0; half_size /= 2) {
    if (item < half_size) scratch[item] += scratch[item + half_size];
    __syncthreads();
  }
  if (item == 0) sums[blockIdx.x] = scratch[0];
})",
          .cpu = [](const WorkGroup& group, std::span<const std::int32_t> x, std::span<std::int32_t> sums,
                    const LocalMemory<std::int32_t>& scratch, std::int64_t count) {
            group.for_each_item([&](const WorkItem& item) {
              const auto i = static_cast<std::int64_t>(item.global.x);
              scratch[item.local.x] = i < count ? x[i] : 0;
            });
            for (std::uint64_t half_size = group.size.x / 2; half_size > 0; half_size /= 2) {
              group.for_each_item([&](const WorkItem& item) {
                if (item.local.x < half_size) scratch[item.local.x] += scratch[item.local.x + half_size];
              });
            }
            sums[group.id.x] = scratch[0];
          }};
}

std::uint32_t delayed(std::uint32_t seed, std::int64_t rounds) {
  std::uint32_t value = seed;
  for (std::int64_t i = 0; i < rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
    value += 1;
  }
  return value;
}

KernelSource delay_source() {
  return {
      .name = "delay",
      .parameters = {output<std::uint32_t>("x"), scalar<std::int64_t>("rounds")},
      .opencl = R"(
__kernel void delay(__global uint* x, long rounds) {
  uint value = x[0];
  for (long i = 0; i < rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
    value += 1;
  }
  x[0] = value;
})",
      .cuda = R"(
extern "C" __global__ void delay(unsigned* x, long long rounds) {
  unsigned value = x[0];
  for (long long i = 0; i < rounds; ++i) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
    value += 1;
  }
  x[0] = value;
})",
      .cpu = [](const WorkGroup&, std::span<std::uint32_t> x, std::int64_t rounds) { x[0] = delayed(x[0], rounds); }};
}

bool takes_functions(const Device& device) {
  try {
    static_cast<void>(device.compile({.name = "nothing", .parameters = {}, .cpu = [](const WorkGroup&) {}}));
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::unavailable) throw;
    return false;
  }
}

}  // namespace tessera::testing_support
