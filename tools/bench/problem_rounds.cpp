// Rounds over the variants of one problem.
#include "tools/bench/problem_rounds.h"

#include <algorithm>
#include <string>

#include "tools/bench/bench_record.h"
#include "tools/bench/statistics.h"

namespace tessera::tool {

namespace {

/// A job and what its rounds gave.
struct Entry {
  const Job* job = nullptr;
  std::vector<Json> rounds = {};

  [[nodiscard]] static double seconds_of(const Json& record) { return record.at("device_time_s").at("median"); }
  [[nodiscard]] bool is_verified() const {
    return !rounds.empty() && rounds.back().at("status") == to_string(BenchStatus::verified);
  }
  /// Of the verified rounds, one at least.
  [[nodiscard]] double median_s() const {
    std::vector<double> seconds;
    for (const Json& record : rounds) seconds.push_back(seconds_of(record));
    return summarise(std::move(seconds)).median;
  }
  /// The middle round, with the medians of all; the one that was not verified, if there is one.
  [[nodiscard]] Json record() const {
    if (!is_verified()) return rounds.back();
    std::vector<Json> sorted = rounds;
    std::sort(sorted.begin(), sorted.end(),
              [](const Json& left, const Json& right) { return seconds_of(left) < seconds_of(right); });
    Json middle = sorted[sorted.size() / 2];
    middle["rounds_s"] = Json::array();
    for (const Json& one : rounds) middle["rounds_s"].push_back(seconds_of(one));
    return middle;
  }
};

/// The fastest verified one of a kind.
const Entry* best_of(const std::vector<Entry>& entries, bool vendors) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (is_vendor(entry.job->variant) != vendors || !entry.is_verified()) continue;
    if (best == nullptr || entry.median_s() < best->median_s()) best = &entry;
  }
  return best;
}

Timed timed(const Entry& entry) {
  return {entry.job->variant, entry.median_s()};
}

std::optional<ProblemRatios> ratios_of(const std::vector<Entry>& entries) {
  const auto chosen = std::find_if(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return entry.job->is_default && entry.is_verified(); });
  if (chosen == entries.end()) return std::nullopt;
  ProblemRatios ratios{.of_class = {},
                       .number = 0,
                       .problem = chosen->job->typed,
                       .case_name = std::string(chosen->job->problem->name()),
                       .chosen = timed(*chosen),
                       .best_own = {},
                       .best_vendor = {}};
  // A default that is another library's is none of the library's own.
  const Entry* const own = best_of(entries, false);
  ratios.best_own = own == nullptr ? ratios.chosen : timed(*own);
  if (ratios.chosen.seconds < ratios.best_own.seconds) ratios.best_own = ratios.chosen;
  if (const Entry* const vendor = best_of(entries, true)) ratios.best_vendor = timed(*vendor);
  return ratios;
}

bool is_near_the_best(const Entry& entry, const std::vector<Entry>& entries) {
  const Entry* const best = best_of(entries, is_vendor(entry.job->variant));
  return best != nullptr && entry.median_s() <= kNearTheBest * best->median_s();
}

/// What the fastest of its kind took so far; 0 before the first.
double rival_s(const Entry& entry, const std::vector<Entry>& entries) {
  const Entry* const best = best_of(entries, is_vendor(entry.job->variant));
  return best == nullptr ? 0 : best->median_s();
}

}  // namespace

ProblemResult measure_problem(const std::vector<Job>& jobs, Measurer& measurer, std::size_t rounds) {
  std::vector<Entry> entries;
  for (const Job& job : jobs) {
    if (job.because.empty()) entries.push_back({.job = &job});
  }
  std::stable_partition(entries.begin(), entries.end(), [](const Entry& entry) { return entry.job->is_default; });
  for (Entry& entry : entries) entry.rounds.push_back(measurer.measure(*entry.job, rival_s(entry, entries)));
  std::vector<Entry*> again;
  for (Entry& entry : entries) {
    if (entry.is_verified() && (entry.job->is_default || is_near_the_best(entry, entries))) again.push_back(&entry);
  }
  for (std::size_t round = 1; round < rounds; ++round) {
    for (Entry* const entry : again) {
      if (entry->is_verified()) entry->rounds.push_back(measurer.measure(*entry->job, 0));
    }
  }
  ProblemResult result;
  for (const Entry& entry : entries) {
    result.records.push_back(entry.record());
    result.failed = result.failed || result.records.back().at("status") == to_string(BenchStatus::failed);
  }
  result.ratios = ratios_of(entries);
  return result;
}

}  // namespace tessera::tool
