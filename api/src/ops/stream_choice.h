// The variant that computes all slabs of a problem.
#pragma once

#include <tessera/device.h>

#include <algorithm>
#include <exception>
#include <vector>

namespace tessera::detail {

/// Calls `use(options)` with the variant and tuning that are chosen for the problem in one piece, whatever a slab's own
/// choice would be. It throws unsupported or invalid_argument where slabs cannot have them. Then what a file chose
/// (tuned values, the site's) gives way to the default that ships, since no file must stop a program that runs without
/// it; and a default gives way to the first variant of the list that slabs can have, since no choice of the library's
/// own must stop a program that names none. If there is none, the limit of memory that one of them asked for is what is
/// thrown, or else the first refusal.
template <class Problem, class Use>
void choose_for_slabs(const Device& device, const Problem& whole, const KernelOptions& options, const Use& use) {
  const KernelInfo info = device.kernel(whole, options).info();
  KernelOptions chosen = options;
  chosen.variant = info.variant;
  chosen.tuning = info.tuning;
  const auto is_refusal = [](const Error& error) {
    return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::invalid_argument;
  };
  try {
    return use(chosen);
  } catch (const Error& error) {
    const bool is_named = !options.variant.empty() && info.chosen_because.empty();
    if (!is_refusal(error) || is_named) throw;
    std::vector<VariantReport> reports = explain(whole, device);
    std::stable_partition(reports.begin(), reports.end(),
                          [](const VariantReport& report) { return report.is_shipped_default; });
    chosen.tuning = options.tuning;
    std::exception_ptr limit;
    for (const VariantReport& report : reports) {
      const bool is_asked_for = options.variant.empty() || report.variant == options.variant;
      if (!report.can_run || !is_asked_for) continue;
      chosen.variant = report.variant;
      try {
        return use(chosen);
      } catch (const Error& other) {
        if (!is_refusal(other)) throw;
        if (other.code() == ErrorCode::invalid_argument && limit == nullptr) limit = std::current_exception();
      }
    }
    if (limit != nullptr && error.code() == ErrorCode::unsupported) std::rethrow_exception(limit);
    throw;
  }
}

}  // namespace tessera::detail
