// Cells, notes and fields.
#include "tools/tune/tune_report.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tools/output/job_record.h"
#include "tools/output/table.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

namespace {

std::string gain_cell(const TuneOutcome& outcome) {
  if (outcome.ratio.count == 0 || outcome.ratio.median <= 0) return "";
  return fmt::format("{:.2f}", 1 / outcome.ratio.median);
}

std::string notes_of(const TuneOutcome& outcome) {
  const std::string where = fmt::format("{} {} {}", outcome.place.device->name, outcome.place.set->operator_name,
                                        outcome.place.problem->name());
  std::string notes;
  if (!outcome.reason.empty()) notes += fmt::format("  {}: {}\n", where, outcome.reason);
  for (const Trial* const trial : outcome.rejected()) {
    notes += fmt::format("  {}: {} {}: {}\n", where, to_string(trial->candidate),
                         trial->status == TrialStatus::wrong ? "is WRONG" : "FAILS", trial->reason);
  }
  for (const std::string& note : outcome.notes) notes += fmt::format("  {}: {}\n", where, note);
  if (!outcome.search.is_complete && outcome.reason.empty())
    notes += fmt::format("  {}: the budget ended the search; more of it may find more\n", where);
  return notes;
}

}  // namespace

std::string tune_table(const std::vector<TuneOutcome>& outcomes) {
  Table table({{"device"},
               {"operator"},
               {"problem"},
               {"tried", Align::right},
               {"rejected", Align::right},
               {"default"},
               {"time", Align::right},
               {"fastest"},
               {"time", Align::right},
               {"times faster", Align::right},
               {"kept"}});
  std::string notes;
  for (const TuneOutcome& outcome : outcomes) {
    const bool is_faster = outcome.status == TuneStatus::faster;
    const bool is_decided = is_faster || outcome.status == TuneStatus::not_faster;
    table.add_row(
        {outcome.place.device->name, outcome.place.set->operator_name, std::string(outcome.place.problem->name()),
         fmt::format("{}", outcome.search.trials.size()), fmt::format("{}", outcome.rejected().size()),
         outcome.search.trials.empty() ? outcome.default_variant : to_string(outcome.search.trials.front().candidate),
         outcome.default_s > 0 ? format_seconds(outcome.default_s) : "",
         is_faster    ? to_string(*outcome.best)
         : is_decided ? "the default"
                      : std::string(to_string(outcome.status)),
         is_faster ? format_seconds(outcome.best_s) : "", gain_cell(outcome), outcome.is_kept ? "yes" : "no"});
    notes += notes_of(outcome);
  }
  return with_notes(table.render(), notes);
}

Json to_json(const TuneOutcome& outcome) {
  Json trials = Json::array();
  for (const Trial& trial : outcome.search.trials) {
    const bool is_right = trial.status == TrialStatus::right;
    trials.push_back({{"variant", trial.candidate.variant},
                      {"tuning", to_json(trial.candidate.tuning)},
                      {"status", to_string(trial.status)},
                      {"reason", trial.reason.empty() ? Json() : Json(trial.reason)},
                      {"device_time_s", is_right ? Json(trial.seconds) : Json()},
                      {"spread", is_right ? Json(trial.spread) : Json()},
                      {"right_at", trial.at}});
  }
  Job job = outcome.place;
  job.variant = outcome.best ? outcome.best->variant : outcome.default_variant;
  Json record =
      job_record(job, outcome.best ? outcome.best->tuning : Tuning(), to_string(outcome.status), outcome.reason);
  const auto or_null = [](double seconds) { return seconds > 0 ? Json(seconds) : Json(); };
  record["class"] = outcome.shape_class;
  record["default_variant"] = outcome.default_variant;
  record["default_time_s"] = or_null(outcome.default_s);
  record["best_time_s"] = or_null(outcome.best_s);
  record["ratio"] = outcome.ratio.count > 0 ? to_json(outcome.ratio) : Json();
  record["is_complete"] = outcome.search.is_complete;
  record["is_kept"] = outcome.is_kept;
  record["notes"] = outcome.notes;
  record["candidates"] = std::move(trials);
  return record;
}

double parse_budget(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"", 1.0}, {"s", 1.0}, {"min", 60.0}, {"m", 60.0}, {"h", 3600.0}}};
  constexpr double kLongest_s = 1000 * 3600.0;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, seconds] : kUnits) {
    if (failure == std::errc() && unit == name && number > 0 && number * seconds <= kLongest_s) return number * seconds;
  }
  throw UsageError(fmt::format("--budget is '{}', but must be a time above 0 and up to 1000h: 60s, 5min, 1h", text));
}

}  // namespace tessera::tool
