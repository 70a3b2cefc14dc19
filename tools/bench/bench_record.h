// What the benchmark says about one job: the record of the result file and the row of the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/measurement.h"
#include "tools/output/result_file.h"
#include "tools/peaks/peaks.h"
#include "tools/selection.h"

namespace tessera::tool {

enum class BenchStatus : std::uint8_t {
  verified,     ///< right, and measured
  failed,       ///< wrong: no speed is told
  unsupported,  ///< the variant cannot do it, with the reason
  skipped,      ///< would take too long or needs too much memory, with the reason
};
[[nodiscard]] std::string_view to_string(BenchStatus status) noexcept;

/// Memory of the device beside the operands.
struct MemoryUse {
  std::uint64_t prepared_bytes = 0;  ///< weights in the kernel's own form
  std::uint64_t run_bytes = 0;       ///< measured: what one run took from the allocator and the backend's scratch
};

struct BenchRecord {
  Job job;
  BenchStatus status = BenchStatus::failed;
  bool is_left_out = false;  ///< skipped, because the run's budget has no room for it
  std::string reason;        ///< why it is not verified, or what is unusual about the measurement; "" if nothing is
  std::optional<conformance::Outcome> outcome;
  Tuning tuning;
  double error_factor = 1.0;
  std::optional<MemoryUse> memory;         ///< of those that ran
  std::vector<LaunchFacts> launches;       ///< what the driver says of the verified run's kernel functions
  std::size_t input_sets = 1;              ///< sets of operands used in turn
  std::uint64_t flushed_bytes = 0;         ///< written before each timed run to empty the caches; 0: they are warm
  std::optional<Measurement> measurement;  ///< of verified ones
  std::vector<double> rounds_s;            ///< the device time's median of every round that was measured
  double gflops = 0;                       ///< by the device time's median, as gbytes_per_s
  double gbytes_per_s = 0;
  std::optional<PeakShare> peak;
};

[[nodiscard]] Json to_json(const BenchRecord& record);
/// By which variants of one case compare: operations, or bytes for work without any.
[[nodiscard]] double speed_of(const BenchRecord& record) noexcept;
/// Is the variant another library, opened to be measured against?
/// What others took of the processors while a CPU device was measured; nothing of other devices, which they do not
/// slow.
[[nodiscard]] std::optional<double> others_share_of(const BenchRecord& record) noexcept;
[[nodiscard]] bool is_vendor(std::string_view variant) noexcept;

/// Every record as a row (device, variant, case, times, speeds, share of the peak, error over bound, status), and below
/// it the reasons.
[[nodiscard]] std::string bench_table(const std::vector<BenchRecord>& records);

/// For each case that several devices were measured with: each device's fastest variant, and its speed as a ratio to
/// the best. With one device its variants are compared. "" if there is nothing to compare.
[[nodiscard]] std::string comparison_table(const std::vector<BenchRecord>& records);

}  // namespace tessera::tool
