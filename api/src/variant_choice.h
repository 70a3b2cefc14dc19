// Choosing a variant and its tuning from what the variants have answered (VariantFacts). Knows no operator.
#pragma once

#include <tessera/kernel.h>

#include <string>
#include <string_view>
#include <vector>

#include "backend/variant.h"
#include "device_core.h"

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

/// Index of the forced variant, or of the first that can and pays, or of the first that can. Errors: invalid_argument
/// for an unknown name, unsupported with the reason, or with every variant's reason.
[[nodiscard]] std::size_t choose_variant(const std::vector<VariantFacts>& facts, const KernelOptions& options,
                                         std::string_view operator_name, const DeviceCore& device);

/// The preferred value of every tunable.
[[nodiscard]] Tuning preferred(const std::vector<Tunable>& tunables);

/// The preferred values with the caller's in their place, each checked against the list.
[[nodiscard]] Tuning complete_tuning(const VariantFacts& variant, const Tuning& asked, std::string_view operator_name,
                                     const DeviceCore& device);

/// The rows of explain(), without measured times.
[[nodiscard]] std::vector<VariantReport> report_variants(const std::vector<VariantFacts>& facts);

}  // namespace tessera::detail
