// The trace that is being written, and its events in JSON.
#include "trace.h"

#include <tessera/error.h>
#include <tessera/trace.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "backend/sentence.h"
#include "boundary.h"
#include "json_text.h"
#include "per_process.h"
#include "watch.h"

namespace tessera {
namespace detail {
namespace {

using backend::sentence;

struct TraceHolder {
  std::mutex mutex;
  std::shared_ptr<Trace> trace;
  std::filesystem::path path;
};
constinit PerProcess<TraceHolder> trace_holder;

/// The calling thread's line in the last trace that it appeared in.
thread_local std::uint64_t host_line_of_trace = 0;
thread_local int host_line_number = 0;

std::uint64_t next_trace_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Microseconds, the format's unit, with all of a nanosecond's digits.
std::string microseconds(std::int64_t ns) {
  const std::int64_t size = std::abs(ns);
  std::string digits = std::to_string(size % 1000);
  digits.insert(0, 3 - digits.size(), '0');
  return (ns < 0 ? "-" : "") + std::to_string(size / 1000) + "." + digits;
}

std::string place_of(const TraceLine& line) {
  return sentence("\"pid\":", line.process, ",\"tid\":", line.line);
}

void end_trace_at_exit() {
  try {
    stop_trace();
  } catch (...) {
    // Nobody is left to be told.
  }
}

/// Static objects that were made after the first trace began may still use the library when this runs: their commands
/// are not in the trace any more.
void end_traces_at_exit() {
  static std::atomic<bool> is_seen_to{false};
  if (!is_seen_to.exchange(true)) static_cast<void>(std::atexit(end_trace_at_exit));
}

}  // namespace

Trace::Trace(const std::filesystem::path& path) : file_(path), number_(next_trace_number()) {
  host_ = add_process("host");
}

void Trace::name(const char* what, const TraceLine& line, std::string_view name) {
  file_.add(sentence("{\"ph\":\"M\",\"name\":\"", what, "_name\",", place_of(line),
                     ",\"args\":{\"name\":", json_quoted(name), "}}"));
}

int Trace::add_process(std::string_view process) {
  const std::lock_guard lock(mutex_);
  name("process", {++processes_, 0}, process);
  return processes_;
}

TraceLine Trace::add_line(int process, std::string_view line) {
  const std::lock_guard lock(mutex_);
  const TraceLine added{process, ++lines_};
  name("thread", added, line);
  return added;
}

TraceLine Trace::host_line() {
  if (host_line_of_trace != number_) {
    host_line_number = add_line(host_, sentence("thread ", ::syscall(SYS_gettid))).line;
    host_line_of_trace = number_;
  }
  return {host_, host_line_number};
}

void Trace::add(const TraceLine& line, const TraceSpan& span) noexcept {
  try {
    file_.add(sentence("{\"ph\":\"X\",\"name\":", json_quoted(span.name), ",\"cat\":", json_quoted(span.category), ",",
                       place_of(line), ",\"ts\":", microseconds(span.begin_ns),
                       ",\"dur\":", microseconds(std::max<std::int64_t>(span.end_ns - span.begin_ns, 0)),
                       span.arguments.empty() ? "" : ",\"args\":{", span.arguments, span.arguments.empty() ? "" : "}",
                       "}"));
  } catch (const std::exception&) {
    // No memory for the words: a span less.
  }
}

void Trace::add_remark(const TraceLine& line, std::string_view text, std::string_view subject) noexcept {
  try {
    const std::string whole = sentence(text, subject.empty() ? "" : ": ", subject);
    file_.add(sentence("{\"ph\":\"i\",\"s\":\"t\",\"name\":", json_quoted(whole), ",", place_of(line),
                       ",\"ts\":", microseconds(now_ns()), "}"));
  } catch (const std::exception&) {
    // Likewise.
  }
}

std::shared_ptr<Trace> current_trace() noexcept {
  if (!is_watched(kWatchTrace)) return nullptr;
  try {
    TraceHolder& holder = trace_holder.get();
    const std::lock_guard lock(holder.mutex);
    return holder.trace;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool is_tracing() noexcept {
  return current_trace() != nullptr;
}

}  // namespace detail

void start_trace(const std::filesystem::path& file) {
  detail::at_boundary([&] {
    detail::TraceHolder& holder = detail::trace_holder.get();
    const std::lock_guard lock(holder.mutex);
    if (holder.trace != nullptr) {
      throw Error(ErrorCode::invalid_argument, backend::sentence("a trace is being written to '", holder.path.string(),
                                                                 "': it must end before another one begins"));
    }
    auto trace = std::make_shared<detail::Trace>(file);
    holder.path = file;
    holder.trace = std::move(trace);
    detail::set_watched(detail::kWatchTrace, detail::kWatchTrace);
    detail::end_traces_at_exit();
  });
}

void stop_trace() {
  detail::at_boundary([] {
    std::shared_ptr<detail::Trace> trace;
    {
      detail::TraceHolder& holder = detail::trace_holder.get();
      const std::lock_guard lock(holder.mutex);
      trace = std::exchange(holder.trace, nullptr);
      detail::set_watched(detail::kWatchTrace, 0);
    }
    if (trace != nullptr) trace->close();
  });
}

}  // namespace tessera
