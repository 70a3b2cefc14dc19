// The events of the log, put into words. Called only where the log is on. The caller holds no lock, where nothing else
// is said.
#pragma once

#include <tessera/log.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/program_log.h"
#include "block.h"
#include "variant_choice.h"

namespace tessera::detail {

/// A problem's fields as text, cut where a filter's weights would fill pages.
[[nodiscard]] std::string shortened(std::string text);

/// Why the variant was taken, and why those above it in the list were not: "the first that can and pays; passed over:
/// ...".
[[nodiscard]] std::string why_chosen(const std::vector<VariantFacts>& facts, std::size_t chosen,
                                     const KernelOptions& options);

/// The variant that a problem gets.
void log_choice(const std::vector<VariantFacts>& facts, std::size_t chosen, const KernelOptions& options,
                const KernelInfo& kernel, const std::string& problem) noexcept;
void log_kernel(const std::string& device, const std::string& kernel, double seconds) noexcept;
/// For the device of the thread's innermost Making, and told when that ends: the caller may hold locks.
void log_program(std::string_view name, backend::ProgramOrigin origin, double seconds) noexcept;
/// upload, download or copy; `queue` is its label.
void log_transfer(LogAction action, const std::string& device, const std::string& queue,
                  std::uint64_t size_bytes) noexcept;
/// allocate or free.
void log_holder(LogAction action, const Holder& holder) noexcept;
/// reserve or release. Told when the thread's innermost Making ends, if there is one: a backend that runs short of
/// memory while it queues a command makes others give theirs back.
void log_reserve(LogAction action, const std::string& device, std::uint64_t size_bytes) noexcept;

}  // namespace tessera::detail
