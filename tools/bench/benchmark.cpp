// No speed without a check: a result is compared with the oracle in the same process, on the same kernel, before its
// speed is told; and its bits are compared again after the repetitions, so that what was timed is what was right.
#include "tools/bench/benchmark.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tools/bench/peak_shares.h"
#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// Larger results are compared with the oracle again each time.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

constexpr const char* kNotAtRest = "other threads of this process were still busy when it began";

std::string key_of(const Job& job) {
  return fmt::format("{}/{}/{}/{}", job.device->name, job.set->operator_name, job.variant,
                     to_string(job.problem->type()));
}

/// In live buffers, workspaces and the backend's scratch. Scratch grows to the most that was lent at once, and stays.
std::uint64_t held_bytes(const Device& device) {
  const MemoryStatistics memory = device.memory();
  return memory.in_use_bytes + memory.held_bytes;
}

/// What predicted times are scaled by.
double amount(const conformance::Work& work) {
  return work.flops > 0 ? work.flops : work.bytes;
}

}  // namespace

BenchRecord Benchmark::run(const Job& job, const Peaks& peaks) {
  return run(job, peaks, limits_);
}

BenchRecord Benchmark::run(const Job& job, const Peaks& peaks, const MeasurementLimits& limits) {
  BenchRecord record;
  record.job = job;
  record.tuning = job.tuning;
  if (!job.because.empty()) {
    record.status = BenchStatus::unsupported;
    record.reason = job.because;
    return record;
  }
  try {
    record.reason = job.problem->skip_reason(job.device->device);
    if (record.reason.empty()) record.reason = too_long(job, limits);
    if (!record.reason.empty()) {
      record.status = BenchStatus::skipped;
      return record;
    }
    verify_and_measure(job, peaks, limits, record);
  } catch (const Error& error) {
    const bool memory = error.code() == ErrorCode::out_of_memory;
    record.status = memory ? BenchStatus::skipped : BenchStatus::failed;
    record.reason = fmt::format("{}: {}", to_string(error.code()), error.sentence());
    record.measurement.reset();
    sets_.forget();
  }
  return record;
}

std::string Benchmark::too_long(const Job& job, const MeasurementLimits& limits) const {
  const Expectation expected = history_.expect(key_of(job), amount(job.problem->work()), headroom_of(job.device->info));
  if (limits.one_run_limit_s > 0) {
    if (expected.least_s <= limits.one_run_limit_s) return {};
    return fmt::format("{}; the limit is {}", to_string(expected), format_seconds(limits.one_run_limit_s));
  }
  // One run warms up.
  if (expected.least_s * static_cast<double>(limits.fewest_repetitions + 1) <= limits.time_limit_s) return {};
  return fmt::format("{}: warm-up and {} runs would pass the time limit of {}", to_string(expected),
                     limits.fewest_repetitions, format_seconds(limits.time_limit_s));
}

void Benchmark::verify_and_measure(const Job& job, const Peaks& peaks, const MeasurementLimits& limits,
                                   BenchRecord& record) {
  const Device& device = job.device->device;
  conformance::Run& first = sets_.prepare(job);
  record.tuning = first.info().tuning;
  record.error_factor = first.info().error_factor;

  Queue queue(device, {.label = fmt::format("bench {}", job.problem->name())});
  first.reset(queue);
  queue.finish();
  const CacheFlush* const flush = flush_for(job, limits);
  if (flush != nullptr) record.flushed_bytes = flush->size_bytes();
  const bool at_rest = rest_.wait();
  device.trim();  // scratch that earlier jobs left is not this one's
  const std::uint64_t held_before = held_bytes(device);
  queue.watch_launches();
  const Measurement verified = measure_once({[&] { first.enqueue(queue); }}, queue);
  record.launches = queue.watched_launches();
  const std::uint64_t held = held_bytes(device);
  record.memory = MemoryUse{.prepared_bytes = first.info().prepared_bytes,
                            .run_bytes = held > held_before ? held - held_before : 0};
  const std::vector<std::byte> right_bits = verify(job, first, queue, record);
  if (!record.outcome->passed) {
    record.reason = record.outcome->failure;
    sets_.forget();  // whatever was wrong may have spoilt the operands too
    return;
  }

  const conformance::Work work = job.problem->work();
  const Measurement measurement = measure_again(job, verified, queue, limits, record);
  if (!measurement.plan.skipped.empty()) {
    record.status = BenchStatus::skipped;
    record.reason = measurement.plan.skipped;
    return;
  }
  if (first.output_bits(queue) != right_bits) {
    record.reason = "the bits after the repetitions differ from the verified ones";
    sets_.forget();
    return;
  }
  if (!(measurement.device_s.median > 0)) {
    record.reason = "the device's events give no time";
    return;
  }
  record.status = BenchStatus::verified;
  record.reason = measurement.plan.note;
  if (!at_rest) record.reason += (record.reason.empty() ? "" : "; ") + std::string(kNotAtRest);
  record.measurement = measurement;
  const double seconds = measurement.device_s.median;
  record.rounds_s = {seconds};
  record.gflops = work.flops / seconds / 1e9;
  record.gbytes_per_s = work.bytes / seconds / 1e9;
  record.peak = share_of(record, peaks);
  history_.add(key_of(job), amount(work), seconds);
  // A forced tuning value says nothing about what explain() would choose, and cold caches are not its users' rule.
  if (job.tuning.empty() && !limits.cold) first.remember_time(device, seconds);
}

std::vector<std::byte> Benchmark::verify(const Job& job, conformance::Run& run, Queue& queue, BenchRecord& record) {
  if (sets_.are_new()) verified_.clear();
  const std::pair key{job.variant, job.tuning};
  std::vector<std::byte> bits = run.output_bits(queue);
  if (const auto known = verified_.find(key); known != verified_.end() && known->second.bits == bits) {
    record.outcome = known->second.outcome;
    return bits;
  }
  record.outcome = run.check(queue);
  if (record.outcome->passed && bits.size() <= kMostKeptBytes) verified_[key] = {bits, *record.outcome};
  return bits;
}

const CacheFlush* Benchmark::flush_for(const Job& job, const MeasurementLimits& limits) {
  if (!limits.cold) return nullptr;
  std::unique_ptr<CacheFlush>& flush = flushes_[job.device];
  if (flush == nullptr) flush = std::make_unique<CacheFlush>(job.device->device, job.device->info);
  return flush.get();
}

Measurement Benchmark::measure_again(const Job& job, const Measurement& verified, Queue& queue,
                                     MeasurementLimits limits, BenchRecord& record) {
  if (limits.verified_run_counts_s > 0 && verified.wall_s.median >= limits.verified_run_counts_s) {
    Measurement alone = verified;
    alone.plan.note = "the verified run, measured itself";
    return alone;
  }
  TimedWork work{[&] { sets_.enqueue(queue); }};
  if (const CacheFlush* const flush = flush_for(job, limits)) work.flush = [&queue, flush] { flush->enqueue(queue); };
  if (std::optional<Measurement> once = measure_if_slow(verified, work, queue, limits)) return *std::move(once);
  if (!limits.cold) record.input_sets = sets_.complete(job.problem->work(), queue);
  const double tick_s = job.device->info.timer_resolution_s;
  if (std::optional<Measurement> brief = measure_if_far_behind(verified, work, queue, tick_s, limits))
    return *std::move(brief);
  // While operands were made the device was idle, and the clocks of a GPU fell.
  if (sets_.are_new() && job.device->info.kind != DeviceKind::cpu && limits.first_warm_up_s > limits.warm_up_s) {
    limits.time_limit_s += limits.first_warm_up_s - limits.warm_up_s;
    limits.warm_up_s = limits.first_warm_up_s;
  }
  return measure(work, queue, tick_s, limits);
}

}  // namespace tessera::tool
