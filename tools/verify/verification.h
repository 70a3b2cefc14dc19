// One job checked against the oracle: what came out of it, and what all of them together mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tessera/tessera.h>

#include "conformance/problem_set.h"
#include "tools/output/result_file.h"
#include "tools/selection.h"

namespace tessera::tool {

enum class VerifyStatus : std::uint8_t { passed, failed, unsupported };
[[nodiscard]] std::string_view to_string(VerifyStatus status) noexcept;

struct Verification {
  VerifyStatus status = VerifyStatus::failed;
  std::string reason;  ///< why not passed, one sentence
  double worst_error = 0;
  double bound = 0;
  Tuning tuning;  ///< what was used, or asked for if nothing ran
};

/// Runs a prepared case twice and checks it: the first result against the oracle, and the second for the same bits.
[[nodiscard]] Verification verify_run(conformance::Run& run, Queue& queue);

/// The same from the beginning: makes the kernel and a queue. Every tessera::Error becomes `failed`; a job that cannot
/// run becomes `unsupported`.
[[nodiscard]] Verification verify_job(const Job& job);

/// The record of a job for the result file.
[[nodiscard]] Json verify_record(const Job& job, const Verification& verification);

/// How many came out how.
struct VerifyCounts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t unsupported = 0;
  void add(VerifyStatus status);
  /// Success only if nothing failed and something ran.
  [[nodiscard]] bool success() const noexcept { return failed == 0 && passed > 0; }
};

/// How close the error came to its bound: 1 is at the bound. 0 / 0 is exact, so 0.
[[nodiscard]] double share_of_bound(double worst_error, double bound);

}  // namespace tessera::tool
