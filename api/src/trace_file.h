// The file that a trace is written to: a list in JSON which is whole after every write, so that it can be read however
// the program ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

namespace tessera::detail {

/// Called from several threads at once.
class TraceFile {
 public:
  /// Makes the file, or empties it, and writes an empty list. Error invalid_argument if it cannot be written, if it is
  /// no regular file, or if another process is writing a trace to it.
  explicit TraceFile(const std::filesystem::path& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();

  /// Adds one element, which is written a tenth of a second later at the latest, if another one follows then.
  void add(std::string_view element) noexcept;
  /// Writes what was added.
  void flush() noexcept;
  /// The same, for the last time: what is added later is dropped. Error invalid_argument if any of it could not be
  /// written.
  void close();

 private:
  void write_out() noexcept;
  [[noreturn]] void give_up(int code);

  const std::string name_;  ///< for errors
  std::mutex mutex_;
  int descriptor_ = -1;
  int failure_ = 0;  ///< the first error of the system, after which nothing is written
  bool is_first_ = true;
  std::int64_t offset_ = 0;  ///< where the list's end is, over which the next elements are written
  std::string waiting_;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace tessera::detail
