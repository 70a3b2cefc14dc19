// How a time is taken. The device's time stands between two events on the queue. Three things would spoil it and are
// met here:
// - the timer's resolution: short kernels run in batches between the two events, and the batch's time is divided;
// - an idle device: the first event would be stamped long before the host has sent the kernel behind it, so an untimed
//   run leads and keeps the device busy meanwhile (not for long kernels, where that is lost in the noise);
// - cold clocks and caches: the warm-up lasts a time, not a number of runs.
// Where runs are to find the caches cold, each is timed alone, behind a pass that empties them and keeps the device
// busy. The wall time of one run is taken apart from that: from the call until finish() returns, on an idle queue.
#include "tools/bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/process/interrupt.h"
#include "tools/process/other_load.h"

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Runs this long or longer need no batch and no leading run: a launch costs 5 to 50 microseconds, under 1 % of it.
constexpr double kLongRun_s = 5e-3;
/// A batch lasts at least this long, so that an event's own cost (one or two microseconds) stays below half a percent.
constexpr double kShortestBatch_s = 500e-6;
/// ... and so many ticks of the device's timer.
constexpr double kTicksOfBatch = 200;
/// Fewer ticks of a single run are worth a remark: its time may be wrong by a twentieth.
constexpr double kTicksOfColdRun = 20;
constexpr std::size_t kLargestBatch = 1000;
constexpr std::size_t kMostRepetitions = 1000;
/// Warm-up runs are queued in chunks of about this length.
constexpr double kChunk_s = 20e-3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double timed_wall(const std::function<void()>& enqueue, Queue& queue, std::size_t runs) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < runs; ++i) enqueue();
  queue.finish();
  return seconds_since(start);
}

/// One cold sample: the pass that empties the caches leads.
void take_cold_sample(const TimedWork& work, Queue& queue, std::vector<double>& device, std::vector<double>& wall) {
  work.flush();
  const Event start = queue.record();
  work.enqueue();
  const Event stop = queue.record();
  queue.finish();
  device.push_back(seconds_between(start, stop));
  work.flush();
  queue.finish();
  wall.push_back(timed_wall(work.enqueue, queue, 1));
}

/// Runs until the warm-up's time is over and returns the seconds of one run, as the last chunk took them. Stops when
/// one run alone would leave no time for the fewest repetitions.
double warm_up(const std::function<void()>& enqueue, Queue& queue, const MeasurementLimits& limits) {
  const auto start = Clock::now();
  std::size_t runs = 1;
  for (;;) {
    stop_if_interrupted();
    const double chunk = timed_wall(enqueue, queue, runs);
    const double each = chunk / static_cast<double>(runs);
    const bool too_slow = each * static_cast<double>(limits.fewest_repetitions) > limits.time_limit_s;
    if (seconds_since(start) >= limits.warm_up_s || too_slow) return each;
    if (chunk < kChunk_s) runs = std::min(runs * 2, kLargestBatch);
  }
}

/// One sample of the device's time, and of the wall's where one run can give both.
void take_sample(const TimedWork& work, Queue& queue, const MeasurementPlan& plan, std::vector<double>& device,
                 std::vector<double>& wall) {
  if (work.flush) return take_cold_sample(work, queue, device, wall);
  const std::function<void()>& enqueue = work.enqueue;
  if (!plan.lead) {
    const auto begin = Clock::now();
    const Event start = queue.record();
    enqueue();
    const Event stop = queue.record();
    queue.finish();
    wall.push_back(seconds_since(begin));
    device.push_back(seconds_between(start, stop));
    return;
  }
  enqueue();
  const Event start = queue.record();
  for (std::size_t i = 0; i < plan.batch; ++i) enqueue();
  const Event stop = queue.record();
  queue.finish();
  device.push_back(seconds_between(start, stop) / static_cast<double>(plan.batch));
  wall.push_back(timed_wall(enqueue, queue, 1));
}

std::string fewer_repetitions(std::size_t repetitions, double seconds_per_run, const MeasurementLimits& limits) {
  return fmt::format("{} repetition{} instead of {}: one run takes {} and the time limit is {}", repetitions,
                     repetitions == 1 ? "" : "s", limits.repetitions, format_seconds(seconds_per_run),
                     format_seconds(limits.time_limit_s));
}

}  // namespace

MeasurementPlan plan_measurement(double seconds_per_run, double timer_resolution_s, double remaining_s,
                                 const MeasurementLimits& limits, double flush_s) {
  MeasurementPlan plan;
  const double seconds = std::max(seconds_per_run, 1e-9);
  if (flush_s > 0) {
    if (seconds < kTicksOfColdRun * timer_resolution_s)
      plan.note = fmt::format("a cold run is timed alone, and one takes {:.3g} ticks of the device's timer",
                              seconds / timer_resolution_s);
  } else if (seconds < kLongRun_s) {
    plan.lead = true;
    const double batch_s = std::max(kShortestBatch_s, kTicksOfBatch * timer_resolution_s);
    plan.batch = std::clamp(static_cast<std::size_t>(std::ceil(batch_s / seconds)), std::size_t{1}, kLargestBatch);
  }
  // A cold sample is a run for the device's time and one for the wall's, each behind a flush.
  const double sample_s =
      flush_s > 0 ? 2 * (seconds + flush_s) : seconds * static_cast<double>(plan.batch + (plan.lead ? 2 : 0));
  const double affordable = remaining_s / sample_s;
  const bool too_few = affordable < static_cast<double>(limits.fewest_repetitions);
  if (too_few && limits.one_run_limit_s <= 0) {
    plan.skipped = fmt::format("one run takes {}: after the warm-up, {} more would pass the time limit of {}",
                               format_seconds(seconds), limits.fewest_repetitions, format_seconds(limits.time_limit_s));
    return plan;
  }
  plan.repetitions = limits.repetitions;
  if (affordable < static_cast<double>(limits.repetitions)) {
    plan.repetitions = static_cast<std::size_t>(std::max(affordable, 1.0));
    plan.note += (plan.note.empty() ? "" : "; ") + fewer_repetitions(plan.repetitions, seconds, limits);
  }
  return plan;
}

Measurement measure_once(const TimedWork& work, Queue& queue) {
  Measurement result;
  result.plan.repetitions = 1;
  std::vector<double> device;
  std::vector<double> wall;
  take_sample(work, queue, result.plan, device, wall);
  result.device_s = summarise(std::move(device));
  result.wall_s = summarise(std::move(wall));
  return result;
}

std::optional<Measurement> measure_if_slow(const Measurement& first, const TimedWork& work, Queue& queue,
                                           const MeasurementLimits& limits) {
  const auto is_slow = [&](const Measurement& measurement) {
    return measurement.wall_s.median * static_cast<double>(limits.fewest_repetitions + 1) > limits.time_limit_s;
  };
  if (limits.one_run_limit_s <= 0 || !is_slow(first)) return std::nullopt;
  stop_if_interrupted();
  Measurement once = measure_once(work, queue);
  if (!is_slow(once)) return std::nullopt;
  once.plan.note = fewer_repetitions(1, once.wall_s.median, limits);
  return once;
}

std::optional<Measurement> measure_if_far_behind(const Measurement& first, const TimedWork& work, Queue& queue,
                                                 double timer_resolution_s, const MeasurementLimits& limits) {
  const auto is_far = [&](const Measurement& measurement) {
    return measurement.device_s.median > kFarBehind * limits.rival_s;
  };
  if (limits.rival_s <= 0 || !is_far(first)) return std::nullopt;
  stop_if_interrupted();
  queue.finish();  // the way of further operands to the device, and their preparing, are no part of the run
  Measurement brief;
  if (first.device_s.median >= kLongRun_s) {
    brief = measure_once(work, queue);
  } else {
    MeasurementLimits few = limits;
    few.warm_up_s = few.min_time_s = 0;
    few.repetitions = few.fewest_repetitions;
    brief = measure(work, queue, timer_resolution_s, few);
  }
  if (!brief.plan.skipped.empty() || !is_far(brief)) return std::nullopt;
  const double times = brief.device_s.median / limits.rival_s;
  brief.plan.note = fmt::format("{} repetition{} without a warm-up: it takes {:.2g} times as long as the fastest",
                                brief.device_s.count, brief.device_s.count == 1 ? "" : "s", times);
  return brief;
}

Measurement measure(const TimedWork& work, Queue& queue, double timer_resolution_s, const MeasurementLimits& limits) {
  queue.finish();  // the inputs' way to the device is no part of the first run
  const auto begin = Clock::now();
  const OtherLoad others;
  const double seconds_per_run = warm_up(work.enqueue, queue, limits);
  const double flush_s = work.flush ? timed_wall(work.flush, queue, 1) : 0;
  Measurement result;
  result.plan = plan_measurement(seconds_per_run, timer_resolution_s, limits.time_limit_s - seconds_since(begin),
                                 limits, flush_s);
  if (!result.plan.skipped.empty()) return result;

  std::vector<double> device;
  std::vector<double> wall;
  const std::size_t fewest = std::min(limits.fewest_repetitions, result.plan.repetitions);
  const auto start = Clock::now();
  while (device.size() < kMostRepetitions) {
    const double elapsed = seconds_since(start);
    const bool enough = device.size() >= result.plan.repetitions && elapsed >= limits.min_time_s;
    const bool out_of_time = device.size() >= fewest && seconds_since(begin) >= limits.time_limit_s;
    if (enough || out_of_time) break;
    stop_if_interrupted();
    take_sample(work, queue, result.plan, device, wall);
  }
  if (device.size() < limits.repetitions && result.plan.note.empty()) {
    result.plan.note = fmt::format("{} repetitions instead of {}: the time limit of {} was reached", device.size(),
                                   limits.repetitions, format_seconds(limits.time_limit_s));
  }
  result.device_s = summarise(std::move(device));
  result.wall_s = summarise(std::move(wall));
  result.others_share = others.share();
  return result;
}

}  // namespace tessera::tool
