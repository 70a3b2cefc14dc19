// Runs the kernels that do nothing but compute.
#include "tools/peaks/arithmetic_peaks.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "tools/peaks/peak_kernels.h"
#include "tools/peaks/peak_timing.h"

namespace tessera::tool {

namespace {

constexpr std::int32_t kFewestIterations = 1024;
/// The one whose kernels are C++, so that they take a processor's own instructions.
constexpr const char* kOwnBackend = "cpu_tbb";

template <class T>
double run_chains(const Device& device, const ChainProgram& program, T factor, T term) {
  Queue queue(device);
  const OwnKernel kernel = device.compile(program.source);
  const Buffer<T> sums = device.allocate<T>(program.output_elements);
  const double seconds = best_seconds_of_iteration(queue, kFewestIterations, [&](std::int32_t iterations) {
    queue.launch(kernel, program.shape, sums, factor, term, iterations);
  });
  return program.operations_per_iteration / seconds / 1e9;
}

double run_fma(const Device& device, const ChainProgram& program, DataType type) {
  // Bits keep changing for long: the chains approach 1 by a ten-thousandth of the rest in each step.
  if (type == DataType::float64) return run_chains<double>(device, program, 0.9999, 0.0001);
  if (type == DataType::float32) return run_chains<float>(device, program, 0.9999F, 0.0001F);
  return run_chains<std::uint32_t>(device, program, 1664525U, 1013904223U);
}

/// The best of those that run, or the last reason why none does.
template <class Measure>
Peak best_of(const std::vector<ChainProgram>& programs, const Measure& measure) {
  Peak best{std::nullopt, "no kernel was tried"};
  for (const ChainProgram& program : programs) {
    const Peak peak = attempt([&] { return measure(program); });
    if (!best.value || (peak.value && *peak.value > *best.value)) best = peak;
  }
  return best;
}

}  // namespace

Peak fma_peak(const Device& device, const DeviceInfo& info, DataType type) {
  if (type == DataType::float64 && !info.has_float64) return {std::nullopt, "the device has no float64"};
  return best_of(fma_programs(info, type), [&](const ChainProgram& program) { return run_fma(device, program, type); });
}

Peak dot_peak(const Device& device, const DeviceInfo& info) {
  const Peak own = best_of(dot_programs(info), [&](const ChainProgram& program) {
    return run_chains<std::uint32_t>(device, program, 0x01020304U, 0x04030201U);
  });
  if (own.value || info.kind != DeviceKind::cpu || info.backend == kOwnBackend) return own;
  return attempt([&] {
    const Device same_processor = open(fmt::format("cpu:0?threads={}", std::max(info.compute_units, 1U)));
    const Peak found = dot_peak(same_processor, same_processor.info());
    if (!found.value) throw Error(ErrorCode::unavailable, own.reason);
    return *found.value;
  });
}

}  // namespace tessera::tool
