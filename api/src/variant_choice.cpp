// Choosing a variant and its tuning, and the sentences that say why there is none.
#include "variant_choice.h"

#include <algorithm>

#include "backend/sentence.h"

namespace tessera::detail {
namespace {

using backend::enumerate;
using backend::sentence;

constexpr std::string_view kNotDeterministic =
    "it does not give the same bits on every run, and the kernel's options ask for deterministic";

std::int64_t value_of(const std::vector<Tunable>& tunables, const Tuning& tuning, const std::string& name) {
  const auto named = tuning.find(name);
  if (named != tuning.end()) return named->second;
  return std::find_if(tunables.begin(), tunables.end(), [&](const Tunable& tunable) { return tunable.name == name; })
      ->preferred;
}

std::string why_not(const VariantFacts& facts) {
  return facts.verdict ? std::string(kNotDeterministic) : facts.verdict.because();
}

std::size_t forced_variant(const std::vector<VariantFacts>& facts, const KernelOptions& options,
                           std::string_view operator_name, const DeviceCore& device) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const VariantFacts& row) { return row.name == options.variant; });
  if (found == facts.end()) {
    std::vector<std::string> names;
    for (const VariantFacts& row : facts) names.push_back(row.name);
    throw Error(ErrorCode::invalid_argument,
                sentence("the variant '", options.variant, "' of ", operator_name, " is unknown on ", device.id(),
                         "; its variants are: ", enumerate(names)));
  }
  if (!eligible(*found, options.deterministic)) {
    throw Error(ErrorCode::unsupported, sentence("the variant '", options.variant, "' of ", operator_name,
                                                 " cannot run on ", device.id(), ": ", why_not(*found)));
  }
  return static_cast<std::size_t>(found - facts.begin());
}

}  // namespace

std::size_t default_variant(const std::vector<VariantFacts>& facts, bool deterministic) {
  std::size_t first = facts.size();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!eligible(facts[i], deterministic)) continue;
    if (facts[i].pays) return i;
    first = std::min(first, i);
  }
  return first;
}

std::size_t choose_variant(const std::vector<VariantFacts>& facts, const KernelOptions& options,
                           std::string_view operator_name, const DeviceCore& device) {
  if (facts.empty()) {
    throw Error(ErrorCode::unsupported, sentence("the backend ", device.backend_name(), " offers no ", operator_name));
  }
  if (!options.variant.empty()) return forced_variant(facts, options, operator_name, device);
  const std::size_t chosen = default_variant(facts, options.deterministic);
  if (chosen < facts.size()) return chosen;
  std::string reasons;
  for (const VariantFacts& row : facts) {
    reasons += sentence(reasons.empty() ? "" : "; ", row.name, ": ", why_not(row));
  }
  throw Error(ErrorCode::unsupported,
              sentence("no variant of ", operator_name, " can run this problem on ", device.id(), ": ", reasons));
}

Tuning preferred(const std::vector<Tunable>& tunables) {
  Tuning tuning;
  for (const Tunable& tunable : tunables) tuning[tunable.name] = tunable.preferred;
  return tuning;
}

Tuning complete_tuning(const VariantFacts& variant, const Tuning& asked, std::string_view operator_name,
                       const DeviceCore& device) {
  Tuning tuning = preferred(variant.tunables);
  for (const auto& [name, value] : asked) {
    const auto found = std::find_if(variant.tunables.begin(), variant.tunables.end(),
                                    [&, &key = name](const Tunable& tunable) { return tunable.name == key; });
    if (found == variant.tunables.end()) {
      std::vector<std::string> names;
      for (const Tunable& tunable : variant.tunables) names.push_back(tunable.name);
      throw Error(ErrorCode::invalid_argument,
                  sentence("the tuning '", name, "' is unknown to the variant '", variant.name, "' of ", operator_name,
                           " on ", device.id(), "; its tunables are: ", enumerate(names)));
    }
    if (std::find(found->values.begin(), found->values.end(), value) == found->values.end()) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("the tuning '", name, "' of the variant '", variant.name, "' of ", operator_name, " is ",
                           value, ", but on ", device.id(), " must be one of ", enumerate(found->values)));
    }
    tuning[name] = value;
  }
  if (const Tunable* const second = find_unpaired(variant.tunables, tuning)) {
    std::vector<std::string> pairs;
    for (const auto& [first_value, value] : second->pairs) pairs.push_back(sentence(first_value, " with ", value));
    throw Error(ErrorCode::invalid_argument,
                sentence("the tunings '", second->paired_with, "' and '", second->name, "' of the variant '",
                         variant.name, "' of ", operator_name, " are ", tuning.at(second->paired_with), " with ",
                         tuning.at(second->name), ", but on ", device.id(), " must be one of ", enumerate(pairs)));
  }
  return tuning;
}

}  // namespace tessera::detail

namespace tessera {

const Tunable* find_unpaired(const std::vector<Tunable>& tunables, const Tuning& tuning) {
  for (const Tunable& tunable : tunables) {
    if (tunable.paired_with.empty()) continue;
    const std::pair values{detail::value_of(tunables, tuning, tunable.paired_with),
                           detail::value_of(tunables, tuning, tunable.name)};
    if (std::find(tunable.pairs.begin(), tunable.pairs.end(), values) == tunable.pairs.end()) return &tunable;
  }
  return nullptr;
}

}  // namespace tessera
