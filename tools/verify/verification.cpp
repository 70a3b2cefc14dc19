// Runs a job and classifies what came of it.
#include "tools/verify/verification.h"

#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/output/job_record.h"

namespace tessera::tool {

std::string_view to_string(VerifyStatus status) noexcept {
  switch (status) {
    case VerifyStatus::passed: return "passed";
    case VerifyStatus::failed: return "failed";
    case VerifyStatus::unsupported: return "unsupported";
  }
  return "";
}

Verification verify_run(conformance::Run& run, Queue& queue) {
  Verification result;
  result.tuning = run.info().tuning;
  run.reset(queue);
  run.enqueue(queue);
  const conformance::Outcome outcome = run.check(queue);
  result.worst_error = outcome.worst_error;
  result.bound = outcome.bound;
  if (!outcome.passed) {
    result.reason = outcome.failure;
    return result;
  }
  const std::vector<std::byte> first = run.output_bits(queue);
  run.reset(queue);
  run.enqueue(queue);
  if (run.output_bits(queue) != first) {
    result.reason = "a second run gives other bits than the first";
    return result;
  }
  result.status = VerifyStatus::passed;
  return result;
}

Verification verify_job(const Job& job) {
  Verification result;
  result.tuning = job.tuning;
  if (!job.because.empty()) {
    result.status = VerifyStatus::unsupported;
    result.reason = job.because;
    return result;
  }
  try {
    const Device& device = job.device->device;
    result.reason = job.problem->skip_reason(device);
    if (!result.reason.empty()) {
      result.status = VerifyStatus::unsupported;
      return result;
    }
    const auto run = job.problem->prepare(device, {.variant = job.variant, .tuning = job.tuning});
    if (run->info().variant != job.variant) {
      result.reason = fmt::format("variant '{}' was forced, but '{}' was made", job.variant, run->info().variant);
      return result;
    }
    Queue queue(device, {.label = std::string(job.problem->name())});
    return verify_run(*run, queue);
  } catch (const Error& error) {
    result.reason = fmt::format("{}: {}", to_string(error.code()), error.sentence());
    return result;
  }
}

Json verify_record(const Job& job, const Verification& verification) {
  Json record = job_record(job, verification.tuning, to_string(verification.status), verification.reason);
  const bool ran = verification.status == VerifyStatus::passed || verification.bound > 0;
  record["error"] = ran ? Json{{"worst", verification.worst_error}, {"bound", verification.bound}} : Json();
  return record;
}

void VerifyCounts::add(VerifyStatus status) {
  if (status == VerifyStatus::passed) ++passed;
  if (status == VerifyStatus::failed) ++failed;
  if (status == VerifyStatus::unsupported) ++unsupported;
}

double share_of_bound(double worst_error, double bound) {
  if (worst_error == 0) return 0;
  return bound > 0 ? worst_error / bound : std::numeric_limits<double>::infinity();
}

}  // namespace tessera::tool
