// The variant that computes all slabs of a problem.
#pragma once

#include <tessera/device.h>

#include <algorithm>
#include <vector>

namespace tessera::detail {

/// Calls `use(options)` with the variant and tuning that are chosen for the problem in one piece, whatever a slab's own
/// choice would be. It throws unsupported or invalid_argument where slabs cannot have them: what a file chose (tuned
/// values, the site's) then gives way to the default that ships, since no file must stop a program that runs without
/// it.
template <class Problem, class Use>
void choose_for_slabs(const Device& device, const Problem& whole, const KernelOptions& options, const Use& use) {
  const KernelInfo info = device.kernel(whole, options).info();
  KernelOptions chosen = options;
  chosen.variant = info.variant;
  chosen.tuning = info.tuning;
  try {
    return use(chosen);
  } catch (const Error& error) {
    const bool is_refusal = error.code() == ErrorCode::unsupported || error.code() == ErrorCode::invalid_argument;
    if (!is_refusal || info.chosen_because.empty()) throw;
    const std::vector<VariantReport> reports = explain(whole, device);
    const auto shipped = std::find_if(reports.begin(), reports.end(),
                                      [](const VariantReport& report) { return report.is_shipped_default; });
    if (shipped == reports.end()) throw;
    chosen.variant = shipped->variant;
    chosen.tuning = options.tuning;
  }
  use(chosen);
}

}  // namespace tessera::detail
