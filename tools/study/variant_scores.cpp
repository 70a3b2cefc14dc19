// Scores of variants over many cases.
#include "tools/study/variant_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "tools/output/table.h"
#include "tools/verify/verification.h"

namespace tessera::tool {

namespace {

bool is_measured(const BenchRecord& record) {
  return record.status == BenchStatus::verified;
}

class GeometricMean {
 public:
  void add(double value) {
    logarithms_ += std::log(value);
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? 0 : std::exp(logarithms_ / static_cast<double>(count_)); }

 private:
  double logarithms_ = 0;
  std::size_t count_ = 0;
};

/// The measured records of one case on one device.
using CaseRecords = std::vector<const BenchRecord*>;

/// The fastest of those for which `counts` holds; nullptr if there is none.
const BenchRecord* fastest(const CaseRecords& records, const std::function<bool(const BenchRecord&)>& counts) {
  const BenchRecord* best = nullptr;
  for (const BenchRecord* record : records) {
    if (counts(*record) && (best == nullptr || speed_of(*record) > speed_of(*best))) best = record;
  }
  return best;
}

/// Over all cases: what `numerator` chooses over what `denominator` chooses.
SpeedRatio ratio_of(const std::vector<CaseRecords>& cases,
                    const std::function<const BenchRecord*(const CaseRecords&)>& numerator,
                    const std::function<const BenchRecord*(const CaseRecords&)>& denominator) {
  SpeedRatio ratio;
  GeometricMean mean;
  for (const CaseRecords& records : cases) {
    const BenchRecord* above = numerator(records);
    const BenchRecord* below = denominator(records);
    if (above == nullptr || below == nullptr) continue;
    const double value = speed_of(*above) / speed_of(*below);
    mean.add(value);
    if (ratio.cases++ == 0 || value < ratio.least) {
      ratio.least = value;
      ratio.least_case = above->job.problem;
    }
  }
  ratio.geometric_mean = mean.value();
  return ratio;
}

const BenchRecord* best_own(const CaseRecords& records) {
  return fastest(records, [](const BenchRecord& record) { return !is_vendor(record.job.variant); });
}
const BenchRecord* best_of_all(const CaseRecords& records) {
  return fastest(records, [](const BenchRecord&) { return true; });
}
const BenchRecord* the_default(const CaseRecords& records) {
  return fastest(records, [](const BenchRecord& record) { return record.job.is_default; });
}
auto named(const std::string& variant) {
  return [variant](const CaseRecords& records) {
    return fastest(records, [&](const BenchRecord& record) { return record.job.variant == variant; });
  };
}

VariantScore score_of(const std::string& variant, const std::vector<CaseRecords>& cases) {
  VariantScore score;
  score.variant = variant;
  GeometricMean mean;
  for (const CaseRecords& records : cases) {
    const BenchRecord* record = named(variant)(records);
    if (record == nullptr) continue;
    const double speed = speed_of(*record);
    mean.add(speed);
    score.least = score.measured == 0 ? speed : std::min(score.least, speed);
    score.most = std::max(score.most, speed);
    ++score.measured;
    if (best_of_all(records) == record) ++score.fastest;
    score.worst_share =
        std::max(score.worst_share, share_of_bound(record->outcome->worst_error, record->outcome->bound));
  }
  score.geometric_mean = mean.value();
  score.to_best_own = ratio_of(cases, named(variant), best_own);
  return score;
}

DeviceScores score_device(const OpenDevice* device, const std::vector<std::string>& variants,
                          const std::vector<CaseRecords>& cases) {
  DeviceScores scores;
  scores.device = device;
  scores.cases = cases.size();
  for (const std::string& variant : variants) {
    scores.variants.push_back(score_of(variant, cases));
    if (!is_vendor(variant)) continue;
    const SpeedRatio ratio = ratio_of(cases, the_default, named(variant));
    if (ratio.cases > 0) scores.default_to_vendor.emplace_back(variant, ratio);
  }
  scores.default_to_own = ratio_of(cases, the_default, best_own);
  scores.default_to_all = ratio_of(cases, the_default, best_of_all);
  return scores;
}

Json ratio_json(const SpeedRatio& ratio, CaseLabel label) {
  if (ratio.cases == 0) return {};
  return {{"cases", ratio.cases},
          {"geometric_mean", ratio.geometric_mean},
          {"least", ratio.least},
          {"least_case", label(*ratio.least_case)}};
}

std::string ratio_text(const SpeedRatio& ratio, CaseLabel label) {
  return fmt::format("{:.3f}, at least {:.3f} ({})", ratio.geometric_mean, ratio.least, label(*ratio.least_case));
}

}  // namespace

std::pair<BenchRecords::iterator, BenchRecords::iterator> default_and_best(BenchRecords::iterator first,
                                                                           BenchRecords::iterator last) {
  auto chosen = last;
  auto best = last;
  for (auto record = first; record != last; ++record) {
    if (!is_measured(*record) || record->job.is_extra || is_vendor(record->job.variant)) continue;
    if (record->job.is_default) chosen = record;
    if (best == last || speed_of(*record) > speed_of(*best)) best = record;
  }
  return chosen == last ? std::pair(last, last) : std::pair(chosen, best);
}

std::vector<DeviceScores> score_variants(const BenchRecords& records) {
  struct Place {
    std::vector<std::string> variants;
    std::vector<CaseRecords> cases;
    std::map<const conformance::Case*, std::size_t> index;
  };
  std::vector<std::pair<const OpenDevice*, Place>> places;
  for (const BenchRecord& record : records) {
    if (record.job.is_extra) continue;
    auto place =
        std::find_if(places.begin(), places.end(), [&](const auto& entry) { return entry.first == record.job.device; });
    if (place == places.end()) place = places.insert(places.end(), {record.job.device, {}});
    auto& [variants, cases, index] = place->second;
    if (std::find(variants.begin(), variants.end(), record.job.variant) == variants.end()) {
      variants.push_back(record.job.variant);
    }
    const auto [entry, is_new] = index.try_emplace(record.job.problem, cases.size());
    if (is_new) cases.emplace_back();
    if (is_measured(record)) cases[entry->second].push_back(&record);
  }
  std::vector<DeviceScores> scores;
  for (const auto& [device, place] : places) scores.push_back(score_device(device, place.variants, place.cases));
  return scores;
}

Json to_json(const DeviceScores& scores, CaseLabel label) {
  Json variants = Json::array();
  for (const VariantScore& score : scores.variants) {
    const bool any = score.measured > 0;
    variants.push_back({{"variant", score.variant},
                        {"is_vendor", is_vendor(score.variant)},
                        {"measured", score.measured},
                        {"fastest", score.fastest},
                        {"geometric_mean_gflops", any ? Json(score.geometric_mean) : Json()},
                        {"least_gflops", any ? Json(score.least) : Json()},
                        {"most_gflops", any ? Json(score.most) : Json()},
                        {"to_best_own", ratio_json(score.to_best_own, label)},
                        {"worst_error_over_bound", any ? Json(score.worst_share) : Json()}});
  }
  Json vendors = Json::object();
  for (const auto& [vendor, ratio] : scores.default_to_vendor) vendors[vendor] = ratio_json(ratio, label);
  return {{"device", scores.device->name},
          {"cases", scores.cases},
          {"variants", variants},
          {"default_to_best_own", ratio_json(scores.default_to_own, label)},
          {"default_to_best_of_all", ratio_json(scores.default_to_all, label)},
          {"default_to_vendor", vendors},
          {"least_allowed", kLeastOfBest},
          {"kept", scores.default_to_own.cases > 0 ? Json(scores.default_to_own.least >= kLeastOfBest) : Json()}};
}

std::string scores_text(const std::vector<DeviceScores>& scores, CaseLabel label) {
  Table table({{"device"},
               {"variant"},
               {"cases", Align::right},
               {"GFLOP/s, mean", Align::right},
               {"least", Align::right},
               {"most", Align::right},
               {"of best own, mean", Align::right},
               {"fastest in", Align::right},
               {"error/bound", Align::right}});
  std::string below;
  for (const DeviceScores& device : scores) {
    for (const VariantScore& score : device.variants) {
      std::vector<std::string> cells{device.device->name, score.variant,
                                     fmt::format("{}/{}", score.measured, device.cases)};
      if (score.measured > 0) {
        for (const double value : {score.geometric_mean, score.least, score.most})
          cells.push_back(format_number(value));
        cells.push_back(score.to_best_own.cases > 0 ? fmt::format("{:.3f}", score.to_best_own.geometric_mean) : "");
        cells.push_back(fmt::format("{}", score.fastest));
        cells.push_back(fmt::format("{:.2g}", score.worst_share));
      }
      table.add_row(std::move(cells));
    }
    if (device.default_to_own.cases == 0) continue;
    below += fmt::format("{}: the default over the best own variant is {}: {}\n", device.device->name,
                         ratio_text(device.default_to_own, label),
                         device.default_to_own.least >= kLeastOfBest ? "kept" : fmt::format("below {}", kLeastOfBest));
    below += fmt::format("  over the best of all {}\n", ratio_text(device.default_to_all, label));
    for (const auto& [vendor, ratio] : device.default_to_vendor) {
      below += fmt::format("  over {} in {} cases {}\n", vendor, ratio.cases, ratio_text(ratio, label));
    }
  }
  return table.render() + (below.empty() ? "" : "\n" + below);
}

}  // namespace tessera::tool
