// One trace: who appears in it, and what they did when. The format is Chrome's list of trace events; times are
// nanoseconds of the host's steady clock since the trace began.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "trace_file.h"

namespace tessera::detail {

/// A line of events that follow or contain one another: a queue, or a thread of the host. Perfetto calls them threads
/// of processes; no number stands for two of a trace.
struct TraceLine {
  int process = 0;
  int line = 0;
};

/// Something that took time. `arguments` is the inside of an object in JSON: "\"bytes\":8", or "".
struct TraceSpan {
  std::string_view name;
  std::string_view category;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string_view arguments;
};

/// Called from several threads at once.
class Trace {
 public:
  explicit Trace(const std::filesystem::path& path);

  [[nodiscard]] std::int64_t ns_of(std::chrono::steady_clock::time_point time) const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - begin_).count();
  }
  [[nodiscard]] std::int64_t now_ns() const noexcept { return ns_of(std::chrono::steady_clock::now()); }

  /// A device or the host, under which its lines stand.
  [[nodiscard]] int add_process(std::string_view name);
  [[nodiscard]] TraceLine add_line(int process, std::string_view name);
  /// That of the calling thread.
  [[nodiscard]] TraceLine host_line();

  void add(const TraceLine& line, const TraceSpan& span) noexcept;
  /// A moment with something to say: "a command fails: gemm".
  void add_remark(const TraceLine& line, std::string_view text, std::string_view subject = {}) noexcept;

  void flush() noexcept { file_.flush(); }
  void close() { file_.close(); }

 private:
  void name(const char* what, const TraceLine& line, std::string_view name);

  TraceFile file_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const std::uint64_t number_;  ///< of all traces of this process
  std::mutex mutex_;
  int processes_ = 0;
  int lines_ = 0;
  int host_ = 0;
};

/// The trace that is being written, or null.
[[nodiscard]] std::shared_ptr<Trace> current_trace() noexcept;
[[nodiscard]] bool is_tracing() noexcept;

}  // namespace tessera::detail
