// The events of the log, put into words. Where there is no memory for them, an event is not told.
#include "log_events.h"

#include <utility>

#include "backend/sentence.h"
#include "device_core.h"
#include "log_sink.h"
#include "making.h"

namespace tessera::detail {
namespace {

constexpr std::size_t kMostLetters = 240;

template <class Make>
void tell_if_possible(const Make& make) noexcept {
  try {
    tell(make());
  } catch (...) {
    // No memory for the words.
  }
}

/// At once, or when the locks are let go of that the thread may hold.
template <class Make>
void tell_or_note(const Make& make) noexcept {
  try {
    if (Making* const making = Making::current()) {
      making->note(make());
    } else {
      tell(make());
    }
  } catch (...) {
    // Likewise.
  }
}

/// Why a row above the chosen one was not taken.
std::string why_passed_over(const VariantFacts& facts, const KernelOptions& options) {
  if (!facts.verdict) return facts.verdict.because();
  if (!eligible(facts, options.deterministic)) return "it does not give the same bits on every run";
  return facts.pays.because();
}

std::string_view came_from(backend::ProgramOrigin origin) {
  switch (origin) {
    case backend::ProgramOrigin::compiler: return "compiled";
    case backend::ProgramOrigin::disk_cache: return "found in the cache on disk";
    case backend::ProgramOrigin::library: return "loaded as it was built into the library";
  }
  return "found";
}

}  // namespace

std::string shortened(std::string text) {
  if (text.size() <= kMostLetters) return text;
  text.resize(kMostLetters);
  return text + "...";
}

std::string why_chosen(const std::vector<VariantFacts>& facts, std::size_t chosen, const KernelOptions& options) {
  if (!options.variant.empty()) return "the options force it";
  std::string why = facts[chosen].pays ? chosen == 0 ? "the first of the list" : "the first that can and pays"
                                       : "the first that can, as none pays that can";
  const char* separator = "; passed over: ";
  for (std::size_t i = 0; i < chosen; ++i) {
    why += backend::sentence(separator, facts[i].name, ": ", why_passed_over(facts[i], options));
    separator = "; ";
  }
  return why;
}

void log_choice(const std::vector<VariantFacts>& facts, std::size_t chosen, const KernelOptions& options,
                const KernelInfo& kernel, const std::string& problem) noexcept {
  tell_if_possible([&] {
    const std::string why = kernel.chosen_because.empty() ? why_chosen(facts, chosen, options) : kernel.chosen_because;
    std::string tuning;
    for (const auto& [name, value] : kernel.tuning) tuning += backend::sentence(" ", name, "=", value);
    return LogEvent{
        LogKind::choice,
        LogAction::choose,
        kernel.device,
        kernel.variant,
        0,
        0,
        backend::sentence(kernel.operator_name, kernel.label.empty() ? "" : " '" + kernel.label + "'", " on ",
                          kernel.device, " takes ", kernel.variant, tuning, " for ", problem, ": ", why)};
  });
}

void log_kernel(const std::string& device, const std::string& kernel, double seconds) noexcept {
  tell_if_possible([&] {
    return LogEvent{LogKind::compile,
                    LogAction::make,
                    device,
                    kernel,
                    0,
                    seconds,
                    backend::sentence("kernel ", kernel, " for ", device, " made in ", seconds, " s")};
  });
}

void log_program(std::string_view name, backend::ProgramOrigin origin, double seconds) noexcept {
  tell_or_note([&] {
    const Making* const making = Making::current();
    const std::string device = making == nullptr ? "" : making->device();
    return LogEvent{LogKind::compile,
                    origin == backend::ProgramOrigin::compiler ? LogAction::compile : LogAction::load,
                    device,
                    std::string(name),
                    0,
                    seconds,
                    backend::sentence("program ", name, device.empty() ? "" : " for " + device, " ", came_from(origin),
                                      " in ", seconds, " s")};
  });
}

void log_transfer(LogAction action, const std::string& device, const std::string& queue,
                  std::uint64_t size_bytes) noexcept {
  tell_if_possible([&] {
    const bool is_upload = action == LogAction::upload;
    const char* const direction = is_upload                       ? " bytes uploaded to "
                                  : action == LogAction::download ? " bytes downloaded from "
                                                                  : " bytes copied on ";
    return LogEvent{LogKind::copy,
                    action,
                    device,
                    queue,
                    size_bytes,
                    0,
                    backend::sentence(size_bytes, direction, device, queue.empty() ? "" : " by queue '" + queue + "'")};
  });
}

void log_holder(LogAction action, const Holder& holder) noexcept {
  tell_if_possible([&] {
    const std::string& device = holder.device()->id();
    const char* kind = " bytes";
    if (holder.kind() == Holder::Kind::pinned) kind = " bytes of pinned memory";
    if (holder.kind() == Holder::Kind::kernel) kind = " bytes for a kernel's own use";
    return LogEvent{
        LogKind::memory,
        action,
        device,
        holder.label(),
        holder.size_bytes(),
        0,
        backend::sentence(holder.size_bytes(), kind, action == LogAction::allocate ? " allocated on " : " freed on ",
                          device, holder.label().empty() ? "" : ": '" + holder.label() + "'")};
  });
}

void log_reserve(LogAction action, const std::string& device, std::uint64_t size_bytes) noexcept {
  tell_or_note([&] {
    return LogEvent{
        LogKind::memory,
        action,
        device,
        {},
        size_bytes,
        0,
        backend::sentence(size_bytes, " bytes ", action == LogAction::reserve ? "taken from" : "given back to",
                          " the driver of ", device)};
  });
}

}  // namespace tessera::detail
