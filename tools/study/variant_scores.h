// How the variants of a device compare over many cases: geometric means, and how close the default comes to the best.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/bench_record.h"
#include "tools/output/result_file.h"

namespace tessera::tool {

/// The default variant is to be no slower than this share of the library's best one, on every case.
inline constexpr double kLeastOfBest = 0.9;

using BenchRecords = std::vector<BenchRecord>;

/// Of records of one device and case: the verified record of the default variant, and that of the fastest own variant
/// (no vendor's, preferred tuning). Both are `last` if the default was not verified.
[[nodiscard]] std::pair<BenchRecords::iterator, BenchRecords::iterator> default_and_best(BenchRecords::iterator first,
                                                                                         BenchRecords::iterator last);

/// One speed over another, case by case.
struct SpeedRatio {
  std::size_t cases = 0;  ///< in which both were measured
  double geometric_mean = 0;
  double least = 0;
  const conformance::Case* least_case = nullptr;
};

/// One variant over the cases.
struct VariantScore {
  std::string variant;
  std::size_t measured = 0;   ///< cases in which it has a speed
  std::size_t fastest = 0;    ///< cases in which no variant was faster
  double geometric_mean = 0;  ///< GFLOP/s
  double least = 0;
  double most = 0;
  SpeedRatio to_best_own;  ///< its speed over that of the library's best variant
  double worst_share = 0;  ///< the largest of its errors over their bounds
};

/// One device over the cases.
struct DeviceScores {
  const OpenDevice* device = nullptr;
  std::size_t cases = 0;
  std::vector<VariantScore> variants;  ///< in the order of the backend's list
  SpeedRatio default_to_own;           ///< the default's speed over that of the library's best variant
  SpeedRatio default_to_all;           ///< the same with the vendors' counted
  std::vector<std::pair<std::string, SpeedRatio>> default_to_vendor;
};

/// Scores by device, from the records with preferred tuning values.
[[nodiscard]] std::vector<DeviceScores> score_variants(const BenchRecords& records);

using CaseLabel = std::string (*)(const conformance::Case& problem);

[[nodiscard]] Json to_json(const DeviceScores& scores, CaseLabel label);
/// A row for each variant, and below each device what its default is worth.
[[nodiscard]] std::string scores_text(const std::vector<DeviceScores>& scores, CaseLabel label);

}  // namespace tessera::tool
