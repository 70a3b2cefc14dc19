// What a device can do at most, measured once a machine and cached: the ceiling that speeds are compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/tessera.h>

#include "tools/output/result_file.h"

namespace tessera::tool {

/// One ceiling, or the sentence that says why it is unknown.
struct Peak {
  std::optional<double> value;
  std::string reason;
  int times_measured = 1;  ///< the best of so many measurements
};

/// How fast the whole device reads what lies in a cache, or in memory.
struct ReadPeak {
  std::string level;                 ///< "L1", "L2", "memory"
  std::uint64_t capacity_bytes = 0;  ///< of all caches of this level that the device's units have; 0 for memory
  Peak gbytes_per_s;
};

struct Peaks {
  Peak fma_float32_gflops;  ///< a multiply-add counts as two operations
  Peak fma_float64_gflops;
  Peak fma_int32_gflops;        ///< by instructions that multiply and add numbers of 32 bits
  Peak dot_int8_gflops;         ///< products of bytes and sums of 32 bits
  Peak copy_gbytes_per_s;       ///< bytes read and bytes written
  std::vector<ReadPeak> reads;  ///< the nearest cache first, memory last
};

/// Peaks of which nothing is known, because of `reason`.
[[nodiscard]] Peaks unknown_peaks(const std::string& reason);

/// From the cache, or measured now (about six seconds) and cached. Never throws for what cannot be measured.
[[nodiscard]] Peaks find_peaks(const Device& device, bool measure_again);

/// Measured now. Takes the best of several runs: a ceiling, not an average.
[[nodiscard]] Peaks measure_peaks(const Device& device);

/// By its name in the result file ("fma_float32_gflops"), or that of a level of the reads; null if there is none.
[[nodiscard]] Peak* find_peak(Peaks& peaks, std::string_view name);

/// Measures this one again, caches and returns the peaks with the higher value: the machine may have been busy before.
[[nodiscard]] Peaks raise_peak(const Device& device, Peaks known, std::string_view name);

/// What is compared with the peaks.
struct WorkRate {
  DeviceKind kind = DeviceKind::cpu;  ///< of the device
  DataType type = DataType::float32;
  double gflops = 0;
  double gbytes_per_s = 0;
  double bytes_in_turn = 0;  ///< of all operands that take turns: what a cache has to hold to serve them
};

struct PeakShare {
  double share = 0;
  std::string peak;  ///< as in the result file: "fma_float32_gflops", "L2"
  bool is_arithmetic = false;
};

/// The share of what this device can do at most for such work: the larger of the shares of its arithmetic and of its
/// memory, because the roofline's bound is whichever of the two the work meets first. Memory is the fastest level that
/// can hold a good part of the operands. A ceiling that is unknown is left out, and so is the arithmetic of a GPU for
/// numbers of 8 and 16 bits, whose tensor instructions are not measured. Nothing if nothing is left.
[[nodiscard]] std::optional<PeakShare> peak_share(const Peaks& peaks, const WorkRate& rate);

/// Why a share passes 1, in words; "" if it does not.
[[nodiscard]] std::string remark_on(const PeakShare& share, const WorkRate& rate);

[[nodiscard]] Json to_json(const Peaks& peaks);

}  // namespace tessera::tool
