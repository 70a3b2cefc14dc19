// Who watches, and how the environment asks for it.
#include "watch.h"

#include <tessera/error.h>
#include <tessera/trace.h>

#include <unistd.h>

#include <string>
#include <vector>

#include "backend/sentence.h"
#include "environment.h"
#include "log_sink.h"
#include "nvtx.h"
#include "trace.h"

namespace tessera::detail {
namespace {

/// Programs that start others give them their environment: "%p" keeps their files apart.
std::string with_process_number(std::string path) {
  const std::string number = std::to_string(::getpid());
  for (std::size_t at = path.find("%p"); at != path.npos; at = path.find("%p", at + number.size())) {
    path.replace(at, 2, number);
  }
  return path;
}

bool read_log_variable() {
  if (const auto words = environment_list("TESSERA_LOG", ',')) log_to_standard_error(log_kinds_of(*words));
  return true;
}

bool read_trace_variable() {
  const auto path = environment_value("TESSERA_TRACE");
  if (!path || is_tracing()) return true;  // what the program itself has asked for goes first
  try {
    start_trace(with_process_number(*path));
  } catch (const Error& error) {
    throw Error(error.code(), backend::sentence("$TESSERA_TRACE asks for a trace, but ", error.sentence()));
  }
  return true;
}

bool read_profiler_variable() {
  const auto path = environment_value("NVTX_INJECTION64_PATH");
  if (path && open_nvtx(*path)) set_watched(kWatchRanges, kWatchRanges);
  return true;
}

}  // namespace

constinit std::atomic<std::uint32_t> watched_bits{0};

void set_watched(std::uint32_t mask, std::uint32_t bits) noexcept {
  std::uint32_t before = watched_bits.load(std::memory_order_relaxed);
  while (!watched_bits.compare_exchange_weak(before, (before & ~mask) | (bits & mask))) {
  }
}

void watch_from_environment() {
  // What throws is tried again by the next call.
  [[maybe_unused]] static const bool log = read_log_variable();
  [[maybe_unused]] static const bool trace = read_trace_variable();
  [[maybe_unused]] static const bool profiler = read_profiler_variable();
}

}  // namespace tessera::detail
