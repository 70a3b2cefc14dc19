// What a device can do at most, measured once a machine and cached: the ceiling that speeds are compared with.
#pragma once

#include <optional>
#include <string>

#include <tessera/tessera.h>

#include "tools/output/result_file.h"

namespace tessera::tool {

/// One ceiling, or the sentence that says why it is unknown.
struct Peak {
  std::optional<double> value;
  std::string reason;
};

struct Peaks {
  Peak fma_float32_gflops;  ///< a multiply-add counts as two operations
  Peak fma_float64_gflops;
  Peak copy_gbytes_per_s;  ///< bytes read and bytes written
};

/// From the cache, or measured now (about three seconds) and cached. Never throws for what cannot be measured.
[[nodiscard]] Peaks find_peaks(const Device& device, bool measure_again);

/// Measured now. Takes the best of several runs: a ceiling, not an average.
[[nodiscard]] Peaks measure_peaks(const Device& device);

/// The share of what this device can do at most for such work: the larger of the shares of its arithmetic and of its
/// memory, because the roofline's bound is whichever of the two the work meets first. Nothing if a ceiling that it
/// needs is unknown; for types without a measured arithmetic peak the memory's share alone.
[[nodiscard]] std::optional<double> peak_share(const Peaks& peaks, DataType type, double gflops, double gbytes_per_s);

[[nodiscard]] Json to_json(const Peaks& peaks);

}  // namespace tessera::tool
