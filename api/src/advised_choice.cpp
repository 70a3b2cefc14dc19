// Choosing where the site file or tuned values have a say, and the rows of explain(), which must tell the same.
#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "printable.h"
#include "variant_choice.h"

namespace tessera::detail {
namespace {

using backend::sentence;

std::size_t place_of(const std::vector<VariantFacts>& facts, std::string_view variant) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const VariantFacts& row) { return row.name == variant; });
  return static_cast<std::size_t>(found - facts.begin());
}

/// One sentence, "" if it is used.
std::string why_tuned_is_not_used(const TuningLine& line, const std::vector<VariantFacts>& facts, std::size_t shipped,
                                  const KernelOptions& options, std::string_view operator_name,
                                  const DeviceCore& device) {
  if (line.record.verdict != TuningVerdict::faster) return "nothing that was tried is faster than the default";
  if (shipped == facts.size() || facts[shipped].name != line.default_variant) {
    return sentence("it was faster than ", line.default_variant, ", but the default for this problem is ",
                    shipped == facts.size() ? "none" : facts[shipped].name);
  }
  const std::size_t place = place_of(facts, line.record.variant);
  if (place == facts.size()) return sentence("there is no variant '", line.record.variant, "'");
  const VariantFacts& row = facts[place];
  if (!row.verdict) return sentence("it cannot run this problem: ", row.verdict.because());
  if (!eligible(row, options.deterministic)) return "it does not give the same bits on every run";
  try {
    static_cast<void>(complete_tuning(row, line.record.tuning, operator_name, device));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return error.sentence();
  }
  return {};
}

/// "tile=8, vector_width=4"
std::string words_of(const Tuning& tuning) {
  std::string words;
  for (const auto& [name, value] : tuning) words += sentence(words.empty() ? "" : ", ", name, "=", value);
  return words.empty() ? "without tunables" : words;
}

std::string site_words(const Advice& advice, const VariantFacts& row, std::string_view operator_name,
                       const DeviceInfo& info) {
  if (advice.site == nullptr) return {};
  if (const SiteRule* const rule = advice.site->forbids(operator_name, row.name, info))
    return advice.site->words(*rule);
  if (advice.forced == nullptr || advice.forced->variant != row.name) return {};
  const std::string words = advice.site->words(*advice.forced);
  return row.verdict ? words : words + ", but it cannot run this problem";
}

/// The row's part of what a search left.
void add_tuned(const Advice& advice, const std::string& because, VariantReport& report) {
  if (advice.tuned == nullptr) return;
  if (const auto& choice = advice.tuned->choice; choice && choice->record.variant == report.variant) {
    report.tuned = TunedValues{choice->record.tuning,
                               choice->record.measured_s,
                               choice->default_s,
                               choice->problem,
                               choice->when,
                               advice.tuned_path,
                               because};
  }
  for (const TuningLine& line : advice.tuned->rejected) {
    if (line.record.variant != report.variant) continue;
    report.rejected.push_back(
        sentence(words_of(line.record.tuning), " ",
                 line.record.verdict == TuningVerdict::wrong ? "is wrong: " : "fails: ", line.record.because));
  }
}

}  // namespace

bool Advice::names(std::string_view variant, const KernelOptions& options) const {
  if (!options.variant.empty()) return false;
  if (forced != nullptr && forced->variant == variant) return true;
  return tuned != nullptr && tuned->choice && options.tuning.empty() &&
         tuned->choice->record.verdict == TuningVerdict::faster && tuned->choice->record.variant == variant;
}

backend::Verdict Advice::verdict(std::string_view operator_name, std::string_view variant,
                                 const DeviceInfo& device) const {
  const SiteRule* const rule = site != nullptr ? site->forbids(operator_name, variant, device) : nullptr;
  return rule == nullptr ? backend::Verdict::yes() : backend::Verdict::no(site->words(*rule));
}

ChosenVariant choose_advised(const std::vector<VariantFacts>& facts, const KernelOptions& options, const Advice& advice,
                             std::string_view operator_name, const DeviceCore& device) {
  const auto with_options = [&](std::size_t index, std::string because) {
    const bool is_of_site = !because.empty();
    return ChosenVariant{index, complete_tuning(facts[index], options.tuning, operator_name, device),
                         std::move(because), is_of_site};
  };
  if (options.variant.empty() && advice.forced != nullptr) {
    const std::size_t forced = place_of(facts, advice.forced->variant);
    if (forced < facts.size() && eligible(facts[forced], options.deterministic))
      return with_options(forced, advice.site->words(*advice.forced));
  }
  const std::size_t chosen = choose_variant(facts, options, operator_name, device);
  if (!options.variant.empty() || !options.tuning.empty() || advice.tuned == nullptr || !advice.tuned->choice)
    return with_options(chosen, {});
  const TuningLine& line = *advice.tuned->choice;
  if (!why_tuned_is_not_used(line, facts, chosen, options, operator_name, device).empty())
    return with_options(chosen, {});
  const std::size_t tuned = place_of(facts, line.record.variant);
  return {tuned, complete_tuning(facts[tuned], line.record.tuning, operator_name, device),
          sentence("it was tuned on this machine: ", printable(advice.tuned_path)), false};
}

std::vector<VariantReport> report_variants(const std::vector<VariantFacts>& facts, const Advice& advice,
                                           std::string_view operator_name, const DeviceCore& device) {
  const KernelOptions none;
  const std::size_t shipped = default_variant(facts, none.deterministic);
  std::size_t chosen = shipped;
  std::string because = "no variant can run this problem";
  if (shipped < facts.size()) {
    ChosenVariant choice = choose_advised(facts, none, advice, operator_name, device);
    chosen = choice.index;
    because.clear();
    if (advice.tuned != nullptr && advice.tuned->choice) {
      because = why_tuned_is_not_used(*advice.tuned->choice, facts, shipped, none, operator_name, device);
      if (because.empty() && choice.is_of_site) because = choice.because;
    }
  }
  std::vector<VariantReport> reports;
  for (const VariantFacts& row : facts) {
    VariantReport report;
    report.variant = row.name;
    report.summary = row.summary;
    report.can_run = static_cast<bool>(row.verdict);
    report.because = row.verdict.because();
    report.is_default = reports.size() == chosen;
    report.is_shipped_default = reports.size() == shipped;
    if (reports.size() < shipped && eligible(row, none.deterministic)) report.passed_over = row.pays.because();
    report.tunables = row.tunables;
    report.error_factor = row.error_factor;
    report.site = site_words(advice, row, operator_name, device.info_when_opened());
    add_tuned(advice, because, report);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace tessera::detail
