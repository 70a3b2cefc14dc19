// Choosing a variant and its tuning from what the variants have answered (VariantFacts). Knows no operator.
#pragma once

#include <tessera/kernel.h>

#include <string>
#include <string_view>
#include <vector>

#include "backend/variant.h"
#include "device_core.h"
#include "site_file.h"
#include "tuning_table.h"

namespace tessera::detail {

/// One variant's answers for one problem on one device.
struct VariantFacts {
  std::string name;
  std::string summary;
  backend::Verdict verdict;
  std::vector<Tunable> tunables;
  double error_factor = 1.0;
  bool deterministic = true;
  backend::Verdict pays = backend::Verdict::yes();
};

/// Can it be chosen, given whether the caller wants the same bits on every run?
[[nodiscard]] inline bool eligible(const VariantFacts& facts, bool deterministic) {
  return facts.verdict && (facts.deterministic || !deterministic);
}

/// Index of the first that can and pays, or of the first that can, or the number of rows: the default that ships.
[[nodiscard]] std::size_t default_variant(const std::vector<VariantFacts>& facts, bool deterministic);

/// Index of the forced variant, or of the first that can and pays, or of the first that can. Errors: invalid_argument
/// for an unknown name, unsupported with the reason, or with every variant's reason.
[[nodiscard]] std::size_t choose_variant(const std::vector<VariantFacts>& facts, const KernelOptions& options,
                                         std::string_view operator_name, const DeviceCore& device);

/// What stands before the defaults that ship, for one problem on one device: the machine's site file, and behind it the
/// tuned values. What it points to stays for good.
struct Advice {
  const SiteRules* site = nullptr;
  const SiteRule* forced = nullptr;   ///< by the site file
  const TunedClass* tuned = nullptr;  ///< null if nothing is known of the class
  std::string tuned_path = {};

  /// Does it concern this variant, so that the variant must be asked?
  [[nodiscard]] bool names(std::string_view variant, const KernelOptions& options) const;
  /// No, with the sentence, where the site file forbids it.
  [[nodiscard]] backend::Verdict verdict(std::string_view operator_name, std::string_view variant,
                                         const DeviceInfo& device) const;
};

/// What a kernel is made with.
struct ChosenVariant {
  std::size_t index = 0;
  Tuning tuning;
  std::string because;      ///< if it is not the default that ships: who says so
  bool is_of_site = false;  ///< the site file
};

/// choose_variant() and complete_tuning(), after the advice. The options come before all but what the site forbids,
/// which the facts tell.
[[nodiscard]] ChosenVariant choose_advised(const std::vector<VariantFacts>& facts, const KernelOptions& options,
                                           const Advice& advice, std::string_view operator_name,
                                           const DeviceCore& device);

/// The preferred value of every tunable.
[[nodiscard]] Tuning preferred(const std::vector<Tunable>& tunables);

/// The preferred values with the caller's in their place, each checked against the list.
[[nodiscard]] Tuning complete_tuning(const VariantFacts& variant, const Tuning& asked, std::string_view operator_name,
                                     const DeviceCore& device);

/// The rows of explain(), without measured times.
[[nodiscard]] std::vector<VariantReport> report_variants(const std::vector<VariantFacts>& facts, const Advice& advice,
                                                         std::string_view operator_name, const DeviceCore& device);

}  // namespace tessera::detail
