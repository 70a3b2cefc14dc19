// conv2d on the CPU backend beside OpenCV's filter2D: what is measured, the floors, and whether they are kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/statistics.h"
#include "tools/output/result_file.h"

namespace tessera::benchmarks {

/// One kernel of the library on one filter, beside what it is compared with.
struct PeerRecord {
  int size = 0;         ///< of the square filter
  std::string variant;  ///< "marching" or "separable"
  DataType type = DataType::float32;
  int threads = 1;
  /// "small": as OpenCV has them too; "any": int32 that no float holds, so that nothing is compared.
  std::string pixels = "small";
  tool::Statistics ours_s;
  tool::Statistics opencv_s;                 ///< filter2D in float, one thread, in the same rounds
  double ratio = 0;                          ///< median of the rounds' OpenCV over ours
  std::optional<double> at_least = {};       ///< floor of `ratio`
  std::optional<double> speed_up = {};       ///< over one thread of ours; with two threads alone
  std::optional<double> memory_allows = {};  ///< the speed-up at which the triad's bandwidth of two threads is reached
  std::optional<double> over_marching = {};  ///< of separable alone: marching's time on the same filter over its own

  [[nodiscard]] bool kept() const;
};

struct PeerResult {
  double triad_bytes_per_s[2] = {0, 0};  ///< by one and by two threads
  std::vector<PeerRecord> records;
};

/// The floors of a second thread: this, or this share of what the memory allows, whichever is less.
inline constexpr double kSecondThreadAtLeast = 1.6;
inline constexpr double kShareOfMemory = 0.8;

/// 4096 x 4096, border same, filters of 3 x 3, 5 x 5 and 7 x 7, for `seconds` each. Throws if two results differ.
[[nodiscard]] PeerResult measure_beside_opencv(double seconds);

[[nodiscard]] tool::Json to_json(const PeerRecord& record);

}  // namespace tessera::benchmarks
