// What backends tell of their programs, gathered on the thread that makes a kernel.
#include "making.h"

#include <utility>

#include "backend/sentence.h"
#include "log_events.h"
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
  innermost_making = outer_;
  tell_programs();
}

Making* Making::current() noexcept {
  return innermost_making;
}

void Making::tell_programs() noexcept {
  // The program's function may make kernels of its own on this thread: they note into one of theirs.
  const std::vector<Program> programs = std::exchange(programs_, {});
  for (const Program& program : programs) log_program(device_, program.name, program.origin, program.seconds);
}

KernelMaking::KernelMaking(const std::string& device, std::string_view what)
    : device_(device), making_(device), start_(std::chrono::steady_clock::now()) {
  if (is_watched(kWatchCalls)) span_.emplace(backend::sentence("making ", what, " for ", device));
}

void KernelMaking::made(const std::string& description) noexcept {
  if (!is_logged(LogKind::compile)) return;
  const double seconds = seconds_since(start_);
  making_.tell_programs();
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
    if (!detail::is_logged(LogKind::compile)) return;
    detail::Making::Program program{std::string(name_), origin, detail::seconds_since(start_)};
    if (detail::Making* const making = detail::Making::current()) {
      making->note(std::move(program));
    } else {
      detail::log_program({}, program.name, origin, program.seconds);
    }
  } catch (const std::exception&) {
    // No memory for the words: a program that is not told of.
  }
}

}  // namespace tessera::backend
