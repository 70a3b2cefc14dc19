// Looks into both files, and writes the one that is the user's.
#include "advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>
#include <variant>
#include <vector>

#include "backend/sentence.h"
#include "boundary.h"
#include "printable.h"
#include "tuning_file.h"

namespace tessera::detail {
namespace {

using backend::sentence;

[[noreturn]] void refuse_result(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, sentence("the tuning result ", why));
}

/// "2026-03-01T12:00:00Z"
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr) return "unknown";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

const VariantFacts& row_of(const std::vector<VariantFacts>& facts, const std::string& variant,
                           std::string_view operator_name, const DeviceCore& device) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const VariantFacts& row) { return row.name == variant; });
  if (found == facts.end())
    refuse_result(sentence("names the variant '", variant, "', which ", operator_name, " has not on ", device.id()));
  return *found;
}

void check_record(const TuningRecord& record, const VariantFacts& row, std::string_view operator_name,
                  const DeviceCore& device) {
  const bool has_time = record.verdict == TuningVerdict::faster || record.verdict == TuningVerdict::not_faster;
  if (record.verdict > TuningVerdict::failed)
    refuse_result(sentence("has the verdict number ", static_cast<int>(record.verdict)));
  if (!has_time) {
    if (record.because.empty())
      refuse_result(sentence("calls '", row.name, "' ", to_string(record.verdict), " without a sentence why"));
    return;
  }
  if (!std::isfinite(record.measured_s) || record.measured_s <= 0)
    refuse_result(
        sentence("says that '", row.name, "' takes ", record.measured_s, " s, but must be a finite number above 0"));
  if (!row.verdict) refuse_result(sentence("chooses '", row.name, "', which cannot run: ", row.verdict.because()));
  static_cast<void>(complete_tuning(row, record.tuning, operator_name, device));
}

}  // namespace

Advice advice_for(std::string_view operator_name, const DeviceCore& device,
                  const std::function<std::string()>& shape_class, const KernelOptions* options) {
  Advice advice;
  const SiteRules& site = site_rules();
  if (!site.rules.empty()) {
    advice.site = &site;
    advice.forced = site.forces(operator_name, device.info_when_opened());
  }
  if (options != nullptr && (!options->variant.empty() || !options->tuning.empty())) return advice;
  const TunedResults& results = tuned_results();
  if (results.table.empty() || device.kernels_image().empty()) return advice;
  advice.tuned = results.table.find(tuning_key(operator_name, shape_class(), device));
  advice.tuned_path = results.path;
  return advice;
}

void keep_tuning(std::string_view operator_name, const DeviceCore& device, const std::string& shape_class,
                 const std::string& problem, const std::vector<VariantFacts>& facts, const TuningResult& result) {
  static_cast<void>(row_of(facts, result.default_variant, operator_name, device));
  if (!std::isfinite(result.default_s) || result.default_s < 0)
    refuse_result(
        sentence("says that the default takes ", result.default_s, " s, but must be a finite number from 0 up"));
  const TuningKey key = tuning_key(operator_name, shape_class, device);
  const std::string when = utc_now();
  std::vector<TuningLine> lines;
  std::size_t choices = 0;
  for (const TuningRecord& record : result.records) {
    check_record(record, row_of(facts, record.variant, operator_name, device), operator_name, device);
    const bool is_choice = record.verdict == TuningVerdict::faster || record.verdict == TuningVerdict::not_faster;
    if (is_choice && ++choices > 1) refuse_result("chooses more than one candidate");
    lines.push_back({key, record, result.default_variant, result.default_s,
                     result.problem.empty() ? problem : result.problem, when});
    const ReadLine again = read_tuning_line(text_of(lines.back()));
    if (const auto* const why = std::get_if<std::string>(&again))
      refuse_result(sentence("cannot be read again once it is written: ", *why));
  }
  store_tuning(key, lines);
}

}  // namespace tessera::detail

namespace tessera {

TuningFiles tuning_files() {
  using namespace detail;
  return at_boundary([] {
    TuningFiles files;
    const TunedResults& results = tuned_results();
    const std::string path = printable(results.path);
    files.results = path;
    files.entries = results.table.entries();
    if (!results.refusal.empty()) files.complaints.push_back(backend::sentence(path, ": ", results.refusal));
    for (const std::string& complaint : results.table.complaints())
      files.complaints.push_back(backend::sentence(path, ": ", complaint));
    const SiteRules& site = site_rules();
    files.site = printable(site.path);
    files.rules = site.rules.size();
    return files;
  });
}

}  // namespace tessera
