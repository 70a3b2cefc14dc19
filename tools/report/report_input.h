// A result file of `tessera bench`, read for a page: what its charts and tables show of it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tools/bench/random_tables.h"
#include "tools/input/json_reading.h"

namespace tessera::tool {

/// Stands for a number that a record does not have.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// How fast a device reads a cache level, or memory.
struct ReportRead {
  std::string level;
  double gbytes_per_s = kNoNumber;
};

struct ReportDevice {
  std::string id;     ///< "cuda:0"
  std::string name;   ///< "NVIDIA H200"
  std::string facts;  ///< driver, instruction set, units, memory
  double float32_gflops = kNoNumber;
  double float64_gflops = kNoNumber;
  double int32_gflops = kNoNumber;
  double dot_int8_gflops = kNoNumber;
  double copy_gbytes_per_s = kNoNumber;
  std::vector<ReportRead> reads;  ///< those that are known, the nearest cache first
};

struct ReportRecord {
  std::string operator_name;
  std::string device;
  std::string variant;
  std::string problem;  ///< the case
  std::string type;
  std::string tuning;  ///< "tile_m=64 tile_n=32"
  std::string status;
  std::string reason;
  std::string hardware;  ///< "128 registers, 2 groups a unit, 25 % occupied"
  bool is_cold = false;
  bool is_random = false;  ///< of a random problem, which has a section of its own
  bool is_default = false;
  double median_s = kNoNumber;
  double spread = kNoNumber;
  double others_share = kNoNumber;  ///< of the processors, at most 1
  double wall_s = kNoNumber;
  double gflops = kNoNumber;
  double gbytes_per_s = kNoNumber;
  double peak_share = kNoNumber;
  double error = kNoNumber;
  double bound = kNoNumber;

  [[nodiscard]] bool is_verified() const noexcept { return status == "verified"; }
  /// Other people's library, not ours.
  [[nodiscard]] bool is_peer() const { return variant.starts_with("vendor_"); }
  /// In 10^9 operations; what orders problems by size.
  [[nodiscard]] double work() const noexcept { return gflops * median_s; }
};

/// A variant with one to many threads.
struct ReportThreads {
  std::string operator_name;
  std::string device;
  std::string variant;
  std::string problem;
  std::vector<std::pair<double, double>> speed_up;  ///< by threads
};

/// A problem with its way to the device and back, each in seconds.
struct ReportTransfer {
  std::string operator_name;
  std::string device;
  std::string problem;
  std::string host_memory;
  double upload_s = 0;
  double compute_s = 0;
  double download_s = 0;
  double upload_gbytes_per_s = kNoNumber;
  double download_gbytes_per_s = kNoNumber;
};

struct ReportInput {
  std::string name;  ///< of the file, without its folder
  std::string date;
  std::string library;  ///< "tessera 0.1.0 (b888be97)"
  std::string machine;
  std::string note;
  std::vector<ReportDevice> devices;
  std::vector<ReportRecord> records;
  std::vector<ReportThreads> threads;
  std::vector<ReportTransfer> transfers;
  std::vector<RandomGroup> random;         ///< of --random, each class on each device
  std::vector<std::string> missing_peers;  ///< "vendor_blis: apt-get install libblis4-pthread"

  [[nodiscard]] const ReportDevice* find_device(const std::string& id) const;
};

/// Error invalid_argument, one sentence, for what is no result of `tessera bench`. What a record lacks, it lacks on the
/// page too; texts are cut at 200 letters.
[[nodiscard]] ReportInput read_report_input(const std::string& path);
/// The same for what a file holds.
[[nodiscard]] ReportInput report_input_of(const Json& result, const std::string& path);

}  // namespace tessera::tool
