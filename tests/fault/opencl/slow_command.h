// A command that runs long enough for a test to do things beside it, and writes at its end.
#pragma once

#include <cstdint>

#include <tessera/tessera.h>

namespace tessera::fault {

/// Loops `rounds` times, 2 to 4 ns each, and then sets the first `count` elements to a negative number.
[[nodiscard]] inline KernelSource slow_source() {
  return {.name = "slow",
          .parameters = {output<float>("y"), scalar<std::int32_t>("rounds"), scalar<std::int32_t>("count")},
          .opencl = R"(
__kernel void slow(__global float* y, int rounds, int count) {
  float s = 0;
  for (int i = 0; i < rounds; ++i) s = s * 0.999f + i;
  for (int i = 0; i < count; ++i) y[i] = -1 - s;
})"};
}

/// A fifth of a second or more.
inline constexpr std::int32_t kSlowRounds = 60'000'000;

inline void run_slowly(Queue& queue, const OwnKernel& slow, const Buffer<float>& y, std::int32_t rounds = kSlowRounds) {
  queue.launch(slow, {.groups = {1}, .group_size = {1}}, y, rounds, static_cast<std::int32_t>(y.size()));
}

}  // namespace tessera::fault
