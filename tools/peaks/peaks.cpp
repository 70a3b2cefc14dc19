// Measures the ceilings of a device with the peak kernels.
#include "tools/peaks/peaks.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include "tools/peaks/peak_cache.h"
#include "tools/peaks/peak_kernels.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

/// A launch of the arithmetic kernel lasts about this long: much longer than starting it, and short enough that some
/// of the samples find the machine undisturbed.
constexpr double kLaunch_s = 3e-3;
constexpr int kFewestSamples = 10;
constexpr double kSampling_s = 0.3;
/// Far beyond the largest caches (a few hundred MiB), both buffers together.
constexpr std::uint64_t kCopyBytes = std::uint64_t{512} << 20;

/// Seconds on the device of one call of `enqueue`, the best of several behind a warm-up.
double best_seconds(Queue& queue, const std::function<void()>& enqueue) {
  enqueue();
  queue.finish();
  double best = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (int sample = 0; sample < kFewestSamples || elapsed_s() < kSampling_s; ++sample) {
    stop_if_interrupted();
    enqueue();
    const Event start = queue.record();
    enqueue();
    const Event stop = queue.record();
    queue.finish();
    const double seconds = seconds_between(start, stop);
    if (seconds > 0 && (best == 0 || seconds < best)) best = seconds;
  }
  if (best == 0) throw Error(ErrorCode::internal, "the device's events give no time");
  return best;
}

template <class T>
double run_fma(const Device& device, const FmaProgram& program) {
  Queue queue(device);
  const OwnKernel kernel = device.compile(program.source);
  const Buffer<T> sums = device.allocate<T>(program.output_elements);
  // Bits keep changing for long: the chains approach 1 by a ten-thousandth of the rest in each step.
  constexpr T kFactor = static_cast<T>(0.9999);
  constexpr T kTerm = static_cast<T>(0.0001);
  const auto enqueue = [&](std::int32_t iterations) {
    queue.launch(kernel, program.shape, sums, kFactor, kTerm, iterations);
  };
  std::int32_t iterations = 1024;
  for (; iterations < (1 << 28); iterations *= 2) {
    const Event start = queue.record();
    enqueue(iterations);
    const Event stop = queue.record();
    if (seconds_between(start, stop) >= kLaunch_s) break;
  }
  const double seconds = best_seconds(queue, [&] { enqueue(iterations); });
  return program.flops_per_iteration * iterations / seconds / 1e9;
}

/// Runs `measurement` and keeps its value, or the reason why there is none.
Peak attempt(const std::function<double()>& measurement) {
  try {
    return {measurement(), ""};
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("{}: {}", to_string(error.code()), error.sentence())};
  }
}

Peak fma_peak(const Device& device, const DeviceInfo& info, DataType type) {
  if (type == DataType::float64 && !info.has_float64) return {std::nullopt, "the device has no float64"};
  Peak best{std::nullopt, "no kernel was tried"};
  for (const FmaProgram& program : fma_programs(info, type)) {
    const Peak peak = attempt(
        [&] { return type == DataType::float64 ? run_fma<double>(device, program) : run_fma<float>(device, program); });
    if (!best.value || (peak.value && *peak.value > *best.value)) best = peak;
  }
  return best;
}

/// The better of the queue's own copy and a kernel's.
Peak copy_peak(const Device& device, const DeviceInfo& info) {
  std::uint64_t bytes = kCopyBytes;
  if (info.max_allocation_bytes > 0) bytes = std::min(bytes, info.max_allocation_bytes);
  if (info.memory_total_bytes > 0) bytes = std::min(bytes, info.memory_total_bytes / 8);
  bytes -= bytes % kCopyWordBytes;
  Peak best = attempt([&] {
    Queue queue(device);
    const auto from = device.allocate<std::uint32_t>(bytes / 4, {.label = "peak of copies"});
    const auto to = device.allocate<std::uint32_t>(bytes / 4, {.label = "peak of copies"});
    queue.fill(from, 0x9E3779B9U);
    queue.fill(to, 0x7F4A7C15U);
    const double copy_s = best_seconds(queue, [&] { queue.copy(to, from); });
    double seconds = copy_s;
    const Peak kernel_s = attempt([&] {
      const CopyProgram program = copy_program(info);
      const OwnKernel kernel = device.compile(program.source);
      const std::uint64_t words = bytes / kCopyWordBytes;
      const BufferView<const std::uint32_t> source = from;
      return best_seconds(queue, [&] { queue.launch(kernel, program.shape, source, to, words); });
    });
    if (kernel_s.value) seconds = std::min(seconds, *kernel_s.value);
    return 2.0 * static_cast<double>(bytes) / seconds / 1e9;
  });
  device.trim();
  return best;
}

}  // namespace

Peaks measure_peaks(const Device& device) {
  const DeviceInfo info = device.info();
  Peaks peaks;
  peaks.fma_float32_gflops = fma_peak(device, info, DataType::float32);
  peaks.fma_float64_gflops = fma_peak(device, info, DataType::float64);
  peaks.copy_gbytes_per_s = copy_peak(device, info);
  return peaks;
}

Peaks find_peaks(const Device& device, bool measure_again) {
  const PeakCache cache(device);
  if (!measure_again) {
    if (const auto cached = cache.find()) return *cached;
  }
  const Peaks peaks = measure_peaks(device);
  // What could not be measured may become measurable (a missing compiler is installed), so only whole results stay.
  const bool whole = peaks.fma_float32_gflops.value && peaks.copy_gbytes_per_s.value &&
                     (peaks.fma_float64_gflops.value || !device.info().has_float64);
  if (whole) cache.store(peaks);
  return peaks;
}

std::optional<double> peak_share(const Peaks& peaks, DataType type, double gflops, double gbytes_per_s) {
  if (!peaks.copy_gbytes_per_s.value) return std::nullopt;
  const double memory = gbytes_per_s / *peaks.copy_gbytes_per_s.value;
  if (type != DataType::float32 && type != DataType::float64) return memory;
  const Peak& arithmetic = type == DataType::float32 ? peaks.fma_float32_gflops : peaks.fma_float64_gflops;
  if (!arithmetic.value) return std::nullopt;
  return std::max(memory, gflops / *arithmetic.value);
}

Json to_json(const Peaks& peaks) {
  Json result = Json::object();
  Json reasons = Json::object();
  const auto add = [&](const char* name, const Peak& peak) {
    result[name] = peak.value ? Json(*peak.value) : Json();
    if (!peak.value) reasons[name] = peak.reason;
  };
  add("fma_float32_gflops", peaks.fma_float32_gflops);
  add("fma_float64_gflops", peaks.fma_float64_gflops);
  add("copy_gbytes_per_s", peaks.copy_gbytes_per_s);
  if (!reasons.empty()) result["unknown_because"] = reasons;
  return result;
}

}  // namespace tessera::tool
