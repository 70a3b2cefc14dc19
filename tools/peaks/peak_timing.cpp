// A ceiling is what was reached once, so that the best sample counts.
#include "tools/peaks/peak_timing.h"

#include <chrono>

#include <fmt/format.h>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

/// A launch lasts about this long: much longer than starting it, and short enough that some of the samples find the
/// machine undisturbed.
constexpr double kLaunch_s = 3e-3;
constexpr std::int32_t kMostIterations = 1 << 28;
constexpr int kFewestSamples = 10;
constexpr double kSampling_s = 0.3;

}  // namespace

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

double best_seconds_of_iteration(Queue& queue, std::int32_t least,
                                 const std::function<void(std::int32_t iterations)>& enqueue) {
  // Drivers compile when a kernel is first launched.
  enqueue(least);
  queue.finish();
  std::int32_t iterations = least;
  for (; iterations < kMostIterations; iterations *= 2) {
    stop_if_interrupted();
    const Event start = queue.record();
    enqueue(iterations);
    const Event stop = queue.record();
    if (seconds_between(start, stop) >= kLaunch_s) break;
  }
  return best_seconds(queue, [&] { enqueue(iterations); }) / iterations;
}

Peak attempt(const std::function<double()>& measurement) {
  try {
    return {measurement(), ""};
  } catch (const Error& error) {
    return {std::nullopt, fmt::format("{}: {}", to_string(error.code()), error.sentence())};
  }
}

}  // namespace tessera::tool
