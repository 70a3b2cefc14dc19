// What is told of programs and memory, gathered on the thread that makes a kernel or queues a command.
#include "making.h"

#include <utility>

#include "backend/program_log.h"
#include "backend/sentence.h"
#include "log_events.h"
#include "log_sink.h"
#include "trace.h"
#include "watch.h"

namespace tessera::detail {
namespace {

thread_local Making* innermost_making = nullptr;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Making::Making(const std::string& device) noexcept : device_(device), outer_(innermost_making) {
  innermost_making = this;
}

Making::~Making() {
  tell_noted();
  innermost_making = outer_;
}

Making* Making::current() noexcept {
  return innermost_making;
}

void Making::tell_noted() noexcept {
  if (events_.empty()) return;
  // What the program's function does on this thread is no part of this making.
  Making* const innermost = std::exchange(innermost_making, nullptr);
  const std::vector<LogEvent> events = std::exchange(events_, {});
  for (const LogEvent& event : events) tell(event);
  innermost_making = innermost;
}

KernelMaking::KernelMaking(const std::string& device, std::string_view what) : device_(device), making_(device) {
  if (is_logged(LogKind::compile)) start_ = std::chrono::steady_clock::now();
  if (is_watched(kWatchCalls)) span_.emplace(backend::sentence("making ", what, " for ", device));
}

void KernelMaking::made(const std::string& description) noexcept {
  if (!start_) return;
  const double seconds = seconds_since(*start_);
  making_.tell_noted();
  log_kernel(device_, description, seconds);
}

}  // namespace tessera::detail

namespace tessera::backend {

ProgramLog::ProgramLog(std::string_view name) noexcept
    : name_(name), is_heard_(detail::is_watched(detail::bits_of(LogKind::compile) | detail::kWatchTrace)) {
  if (is_heard_) start_ = std::chrono::steady_clock::now();
}

void ProgramLog::came_from(ProgramOrigin origin) const noexcept {
  if (!is_heard_) return;
  try {
    if (const auto trace = detail::current_trace()) {
      trace->add(trace->host_line(), {sentence(origin == ProgramOrigin::compiler ? "compiling " : "loading ", name_),
                                      "compile",
                                      trace->ns_of(start_),
                                      trace->now_ns(),
                                      {}});
    }
  } catch (const std::exception&) {
    // No memory for the words: a span less.
  }
  if (detail::is_logged(LogKind::compile)) detail::log_program(name_, origin, detail::seconds_since(start_));
}

}  // namespace tessera::backend
