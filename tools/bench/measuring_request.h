// A job and its limits as a line of JSON, and the job again at the other end.
#pragma once

#include <string>

#include "tools/bench/measurement.h"
#include "tools/selection.h"

namespace tessera::tool {

/// The job's problem is one that --problem takes.
[[nodiscard]] std::string request_line(const Job& job, const MeasurementLimits& limits);

/// The same, read.
struct MeasuringRequest {
  Selection selection;  ///< one operator, one device, one problem
  std::string variant;
  Tuning tuning;
  MeasurementLimits limits;
};
/// Error invalid_argument for what is no such line.
[[nodiscard]] MeasuringRequest request_of(const std::string& line);

}  // namespace tessera::tool
