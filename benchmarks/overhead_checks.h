// The library beside the driver: what each check measures, its limit and whether it is kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/device.h>

#include "tools/output/result_file.h"

namespace tessera::benchmarks {

/// One measurement. Ratios are the library over the driver: of times for launches, of rates for copies.
struct OverheadRecord {
  std::string check;                    ///< "run", "launch", "upload", "download", "allocate"
  std::string device;                   ///< "cuda:0"
  std::string reason = {};              ///< why it was not measured; "" if it was
  double ours_s = 0;                    ///< median of one launch, one copy, one allocation
  std::optional<double> driver_s = {};  ///< the same by the bare driver
  std::optional<double> ratio = {};     ///< median of the ratios of the rounds
  std::optional<double> at_most = {};   ///< limit of the ratio, or of ours_s where there is no ratio
  std::optional<double> at_least = {};

  /// What the limit is for: the ratio, or the library's own time.
  [[nodiscard]] double judged() const { return ratio.value_or(ours_s); }
  [[nodiscard]] bool has_limit() const { return at_most || at_least; }
  /// A limit that could not be measured is not kept.
  [[nodiscard]] bool kept() const;
};

[[nodiscard]] tool::Json to_json(const OverheadRecord& record);

/// Every check that makes sense on this device.
[[nodiscard]] std::vector<OverheadRecord> measure_overhead(const Device& device);

}  // namespace tessera::benchmarks
