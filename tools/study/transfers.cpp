// Measuring transfers. What a user waits for is the wall time of the whole; the parts say where it goes.
#include "tools/study/transfers.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

using conformance::HostMemory;
using conformance::RoundTrip;

namespace {

/// One trip there and back with the oracle's verdict.
conformance::Outcome verify_trip(RoundTrip& trip, Queue& queue) {
  trip.reset(queue);
  trip.upload(queue);
  trip.enqueue(queue);
  trip.download(queue);
  return trip.check(queue);
}

}  // namespace

std::vector<TransferRecord> TransferBench::run(const Job& job) {
  std::vector<TransferRecord> records;
  for (const HostMemory memory : {HostMemory::ordinary, HostMemory::pinned}) {
    // Where the device computes in the host's memory, pinned memory is no other.
    if (memory == HostMemory::pinned && job.device->info.unified_memory) continue;
    stop_if_interrupted();
    TransferRecord record;
    record.job = job;
    record.memory = memory;
    record.tuning = job.tuning;
    try {
      measure_one(record);
    } catch (const Error& error) {
      record.status = error.code() == ErrorCode::out_of_memory ? BenchStatus::skipped : BenchStatus::failed;
      record.reason = fmt::format("{}: {}", to_string(error.code()), error.sentence());
    }
    records.push_back(std::move(record));
  }
  return records;
}

void TransferBench::measure_one(TransferRecord& record) {
  const Job& job = record.job;
  const double flops = job.problem->work().flops;
  const std::string key = job.device->name + "/" + job.set->operator_name;
  const Expectation expected = history_.expect(key, flops, headroom_of(job.device->info));
  if (expected.least_s > limits_.one_run_limit_s) {
    record.status = BenchStatus::skipped;
    record.reason = fmt::format("{}; the limit is {}", to_string(expected), format_seconds(limits_.one_run_limit_s));
    return;
  }
  const auto trip =
      job.problem->round_trip(job.device->device, {.variant = job.variant, .tuning = job.tuning}, record.memory);
  if (!trip) {
    record.status = BenchStatus::unsupported;
    record.reason = "the case does not say how its operands lie in the host's memory";
    return;
  }
  record.tuning = trip->info().tuning;
  record.upload_bytes = trip->upload_bytes();
  record.download_bytes = trip->download_bytes();
  Queue queue(job.device->device, {.label = fmt::format("transfers of {}", job.problem->name())});
  rest_.wait();
  record.outcome = verify_trip(*trip, queue);
  if (record.outcome->passed) {
    time_parts(*trip, queue, record);
    record.outcome = verify_trip(*trip, queue);
  }
  if (!record.outcome->passed) {
    record.reason = record.outcome->failure;
    return;
  }
  record.status = record.whole.wall_s.count > 0 ? BenchStatus::verified : BenchStatus::skipped;
  history_.add(key, flops, record.compute.wall_s.median);
}

void TransferBench::time_parts(RoundTrip& trip, Queue& queue, TransferRecord& record) const {
  const DeviceInfo& device = record.job.device->info;
  const auto timed = [&](const std::function<void()>& enqueue, double warm_up_s) {
    MeasurementLimits limits = limits_;
    limits.time_limit_s += warm_up_s - limits.warm_up_s;
    limits.warm_up_s = warm_up_s;
    const TimedWork work{enqueue};
    const Measurement first = measure_once(work, queue);
    const auto once = measure_if_slow(first, work, queue, limits_);
    Measurement measurement = once ? *once : measure(work, queue, device.timer_resolution_s, limits);
    if (record.reason.empty()) record.reason = measurement.plan.note + measurement.plan.skipped;
    return measurement;
  };
  const double warm_up_s = limits_.warm_up_s;
  // While operands were made and copied, the clocks of a GPU fell.
  const bool is_cpu = device.kind == DeviceKind::cpu;
  const double first_warm_up_s = is_cpu ? warm_up_s : std::max(warm_up_s, limits_.first_warm_up_s);
  record.upload = timed([&] { trip.upload(queue); }, warm_up_s);
  record.compute = timed([&] { trip.enqueue(queue); }, first_warm_up_s);
  record.download = timed([&] { trip.download(queue); }, warm_up_s);
  record.whole = timed([&] { trip.upload(queue), trip.enqueue(queue), trip.download(queue); }, warm_up_s);
}

std::vector<BreakEven> find_break_even(const std::vector<TransferRecord>& records) {
  const auto rival_of = [&](const TransferRecord& record, const OpenDevice* device) {
    return std::find_if(records.begin(), records.end(), [&](const TransferRecord& other) {
      return other.job.device == device && other.job.problem == record.job.problem &&
             other.status == BenchStatus::verified;
    });
  };
  std::vector<const OpenDevice*> rivals;
  for (const TransferRecord& record : records) {
    const bool is_new = std::find(rivals.begin(), rivals.end(), record.job.device) == rivals.end();
    if (record.job.device->info.kind == DeviceKind::cpu && is_new) rivals.push_back(record.job.device);
  }
  std::vector<BreakEven> results;
  for (const TransferRecord& record : records) {
    if (record.job.device->info.kind == DeviceKind::cpu || record.status != BenchStatus::verified) continue;
    for (const OpenDevice* rival : rivals) {
      const auto other = rival_of(record, rival);
      if (other == records.end()) continue;
      auto result = std::find_if(results.begin(), results.end(), [&](const BreakEven& known) {
        return known.device == record.job.device && known.memory == record.memory && known.rival == rival;
      });
      if (result == results.end()) {
        result = results.insert(results.end(), {record.job.device, record.memory, rival, nullptr, nullptr});
      }
      if (record.whole.wall_s.median >= other->compute.wall_s.median) {
        result->wins_from = nullptr;
        result->loses_at = record.job.problem;
      } else if (result->wins_from == nullptr) {
        result->wins_from = record.job.problem;
      }
    }
  }
  return results;
}

}  // namespace tessera::tool
