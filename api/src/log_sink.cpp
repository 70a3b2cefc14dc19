// Tells events to standard error and to the program's function.
#include "log_sink.h"

#include <tessera/error.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "backend/sentence.h"
#include "boundary.h"
#include "per_process.h"
#include "printable.h"
#include "watch.h"

namespace tessera {
namespace detail {
namespace {

constexpr std::array kLogKinds{LogKind::choice, LogKind::compile, LogKind::copy, LogKind::memory};

constinit std::atomic<std::uint32_t> standard_error_kinds{0};

struct LogListener {
  std::shared_mutex mutex;  ///< shared while the function runs
  LogFunction function;
  std::uint32_t kinds = 0;
};
constinit PerProcess<LogListener> log_listener;

/// The program's function runs on this thread.
thread_local bool is_inside_log_function = false;

void write_log_line(const LogEvent& event) {
  const std::string line = backend::sentence("tessera ", to_string(event.kind), ": ", printable(event.text), "\n");
  const char* begin = line.data();
  std::size_t left = line.size();
  while (left > 0) {
    const ssize_t written = ::write(STDERR_FILENO, begin, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody to tell it to
    begin += written;
    left -= static_cast<std::size_t>(written);
  }
}

void call_log_function(const LogEvent& event) {
  if (is_inside_log_function) return;
  LogListener& listener = log_listener.get();
  const std::shared_lock lock(listener.mutex);
  if ((listener.kinds & bits_of(event.kind)) == 0) return;
  is_inside_log_function = true;
  try {
    listener.function(event);
  } catch (...) {
    // The function's own affair: what is told of has happened, and the library goes on.
  }
  is_inside_log_function = false;
}

}  // namespace

std::uint32_t log_kinds_of(const std::vector<std::string>& words) {
  std::uint32_t kinds = 0;
  for (const std::string& word : words) {
    std::uint32_t found = word == "all" ? bits_of(LogKind::all) : 0;
    for (const LogKind kind : kLogKinds) {
      if (word == to_string(kind)) found = bits_of(kind);
    }
    if (found == 0) {
      throw Error(ErrorCode::invalid_argument,
                  backend::sentence("$TESSERA_LOG asks for '", printable(word),
                                    "', but the words are choice, compile, copy, memory and all, with commas between"));
    }
    kinds |= found;
  }
  return kinds;
}

void log_to_standard_error(std::uint32_t kinds) {
  LogListener& listener = log_listener.get();
  const std::unique_lock lock(listener.mutex);
  standard_error_kinds = kinds;
  set_watched(bits_of(LogKind::all), listener.kinds | kinds);
}

void tell(const LogEvent& event) noexcept {
  try {
    if ((standard_error_kinds.load(std::memory_order_relaxed) & bits_of(event.kind)) != 0) write_log_line(event);
    call_log_function(event);
  } catch (...) {
    // No memory for the words: this event is not told.
  }
}

}  // namespace detail

std::string_view to_string(LogKind kind) noexcept {
  switch (kind) {
    case LogKind::choice: return "choice";
    case LogKind::compile: return "compile";
    case LogKind::copy: return "copy";
    case LogKind::memory: return "memory";
    case LogKind::all: return "all";
  }
  return "several";
}

void set_log(LogFunction function, LogKind kinds) {
  detail::at_boundary([&] {
    if (detail::is_inside_log_function) {
      throw Error(ErrorCode::invalid_argument,
                  "set_log() is called by the log's own function, which it would have to wait for");
    }
    detail::LogListener& listener = detail::log_listener.get();
    const std::uint32_t wanted = function ? detail::bits_of(kinds) & detail::bits_of(LogKind::all) : 0;
    const std::unique_lock lock(listener.mutex);
    listener.function.swap(function);  // the one before is destroyed without the lock: it is the caller's now
    listener.kinds = wanted;
    detail::set_watched(detail::bits_of(LogKind::all), wanted | detail::standard_error_kinds);
  });
}

}  // namespace tessera
