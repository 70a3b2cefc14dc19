// A sample is a batch of runs between two events, as the benchmark takes it, behind an untimed run; behind one on each
// set of operands where the kernel prepares weights, which it does when it first meets them.
#include "tools/tune/duel.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tools/bench/measurement.h"
#include "tools/bench/settle.h"

namespace tessera::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than the benchmark's batches, because each is a sample of its own.
constexpr double kSample_s = 5e-3;
/// A kernel made anew, from the caches.
constexpr double kMaking_s = 5e-3;
constexpr double kMostRunsOfSample = 1000;
constexpr double kTicksOfSample = 200;

double runs_of_sample(double expected_s, double timer_resolution_s) {
  const double least_s = std::max(kSample_s, kTicksOfSample * timer_resolution_s);
  return std::clamp(std::ceil(least_s / std::max(expected_s, 1e-9)), 1.0, kMostRunsOfSample);
}

double sample(const Job& place, const Contender& contender, OperandSets& sets, Queue& queue) {
  Job job = place;
  job.variant = contender.candidate.variant;
  job.tuning = contender.candidate.tuning;
  conformance::Run& first = sets.prepare(job);
  if (sets.are_new()) first.reset(queue);
  const std::size_t count = sets.complete(place.problem->work(), queue);
  const std::size_t leading = first.info().prepared_bytes > 0 ? count : 1;
  for (std::size_t i = 0; i < leading; ++i) sets.enqueue(queue);
  queue.finish();
  const double runs = runs_of_sample(contender.expected_s, place.device->info.timer_resolution_s);
  if (runs > 1) sets.enqueue(queue);  // keeps the device busy until the first event is reached
  const Event start = queue.record();
  for (double run = 0; run < runs; ++run) sets.enqueue(queue);
  const Event stop = queue.record();
  queue.finish();
  return seconds_between(start, stop) / runs;
}

}  // namespace

void duel(const Job& place, std::vector<Contender>& contenders, double time_s) {
  const auto begin = Clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  OperandSets sets;
  Rest rest;
  Queue queue(place.device->device, {.label = fmt::format("tune {}", place.problem->name())});
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    const double next_s = round == 0 ? 0 : elapsed_s() * static_cast<double>(round + 1) / static_cast<double>(round);
    if (round >= kFewestRounds && next_s > time_s) break;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = contenders[round % 2 == 0 ? i : contenders.size() - 1 - i];
      static_cast<void>(rest.wait());
      contender.seconds.push_back(sample(place, contender, sets, queue));
    }
  }
}

double duel_seconds(const std::vector<Contender>& contenders, std::size_t rounds) {
  double round_s = 0;
  for (const Contender& contender : contenders) round_s += kMaking_s + kSample_s + 3 * contender.expected_s;
  return round_s * static_cast<double>(rounds);
}

Statistics ratios(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> quotients;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (first[i] > 0) quotients.push_back(second[i] / first[i]);
  }
  return summarise(std::move(quotients));
}

bool is_faster(const Statistics& ratios) {
  if (ratios.count < kFewestRounds) return false;
  return ratios.median * (1 + ratios.spread) < 1 && ratios.median < 1 - kLeastGain;
}

}  // namespace tessera::tool
