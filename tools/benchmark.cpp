// Rule 7: a result is checked in the same process, on the same kernel, before its speed is told; and the bits are
// compared again after the repetitions, so that what was timed is what was right.
#include "tools/benchmark.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "tools/table.h"

namespace tessera::tool {

namespace {

/// Operands that together are smaller than this would be answered from a cache, so that several sets take turns. The
/// number of sets stays small: what is gained beyond is not worth the memory.
constexpr double kBeyondCaches = 256.0 * (1 << 20);
constexpr double kMostInputSets = 8;

std::string key_of(const Job& job) {
  return fmt::format("{}/{}/{}/{}", job.device->name, job.set->operator_name, job.variant,
                     to_string(job.problem->type()));
}

/// What predicted times are scaled by.
double amount(const conformance::Work& work) {
  return work.flops > 0 ? work.flops : work.bytes;
}

std::size_t input_sets_for(const conformance::Work& work) {
  if (work.bytes <= 0) return 1;
  return static_cast<std::size_t>(std::clamp(std::ceil(kBeyondCaches / work.bytes), 1.0, kMostInputSets));
}

}  // namespace

BenchRecord Benchmark::run(const Job& job, const Peaks& peaks) {
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
    if (record.reason.empty()) record.reason = too_long(job);
    if (!record.reason.empty()) {
      record.status = BenchStatus::skipped;
      return record;
    }
    verify_and_measure(job, peaks, record);
  } catch (const Error& error) {
    const bool memory = error.code() == ErrorCode::out_of_memory;
    record.status = memory ? BenchStatus::skipped : BenchStatus::failed;
    record.reason = fmt::format("{}: {}", to_string(error.code()), error.sentence());
    record.measurement.reset();
  }
  return record;
}

std::string Benchmark::too_long(const Job& job) const {
  const auto known = operations_per_s_.find(key_of(job));
  if (known == operations_per_s_.end()) return {};
  const double expected_s = amount(job.problem->work()) / known->second;
  // One run warms up.
  if (expected_s * static_cast<double>(limits_.fewest_repetitions + 1) <= limits_.time_limit_s) return {};
  return fmt::format(
      "one run would take about {}, judged by an earlier case: warm-up and {} runs would pass the "
      "time limit of {}",
      format_seconds(expected_s), limits_.fewest_repetitions, format_seconds(limits_.time_limit_s));
}

void Benchmark::verify_and_measure(const Job& job, const Peaks& peaks, BenchRecord& record) {
  const Device& device = job.device->device;
  const KernelOptions options{.variant = job.variant, .tuning = job.tuning};
  std::vector<std::unique_ptr<conformance::Run>> sets;
  sets.push_back(job.problem->prepare(device, options));
  conformance::Run& first = *sets.front();
  record.tuning = first.info().tuning;
  record.error_factor = first.info().error_factor;

  Queue queue(device, {.label = fmt::format("bench {}", job.problem->name())});
  first.reset(queue);
  first.enqueue(queue);
  record.outcome = first.check(queue);
  if (!record.outcome->passed) {
    record.reason = record.outcome->failure;
    return;
  }
  const std::vector<std::byte> right_bits = first.output_bits(queue);

  const conformance::Work work = job.problem->work();
  record.input_sets = input_sets_for(work);
  while (sets.size() < record.input_sets) {
    sets.push_back(job.problem->prepare(device, options));
    sets.back()->reset(queue);
  }
  std::size_t turn = 0;
  const auto enqueue = [&] { sets[turn++ % sets.size()]->enqueue(queue); };
  const Measurement measurement = measure(enqueue, queue, job.device->info.timer_resolution_s, limits_);
  if (!measurement.plan.skipped.empty()) {
    record.status = BenchStatus::skipped;
    record.reason = measurement.plan.skipped;
    return;
  }
  if (first.output_bits(queue) != right_bits) {
    record.reason = "the bits after the repetitions differ from the verified ones";
    return;
  }
  if (!(measurement.device_s.median > 0)) {
    record.reason = "the device's events give no time";
    return;
  }
  record.status = BenchStatus::verified;
  record.reason = measurement.plan.note;
  record.measurement = measurement;
  const double seconds = measurement.device_s.median;
  record.gflops = work.flops / seconds / 1e9;
  record.gbytes_per_s = work.bytes / seconds / 1e9;
  record.peak_share = peak_share(peaks, job.problem->type(), record.gflops, record.gbytes_per_s);
  operations_per_s_[key_of(job)] = amount(work) / seconds;
  // A forced tuning value says nothing about what explain() would choose.
  if (job.tuning.empty()) first.remember_time(device, seconds);
}

}  // namespace tessera::tool
