// A progress bar on standard error, only when that is a terminal: logs and pipes stay clean.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tessera::tool {

class Progress {
 public:
  /// On standard error, silent unless it is a terminal.
  explicit Progress(std::size_t total);
  /// On `stream`, which is a terminal `columns` wide, or none if that is 0. For tests.
  Progress(std::size_t total, std::ostream& stream, std::size_t columns);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Each step takes about as long as another one: from here on the bar tells how long is left.
  void steps_are_alike() noexcept { tells_time_left_ = true; }
  /// The bar tells that so many seconds are left, until it is told again; of 0 it tells nothing.
  void tell_time_left(double seconds) noexcept { left_s_ = seconds; }
  /// Says what is being done now. Draws at most ten times a second, but always when `done` is 0.
  void show(std::size_t done, std::string_view doing);
  /// Takes the bar away, so that ordinary output can follow.
  void clear();

  /// The bar itself: "[#####.....]  50 % (10/20) gemm", at most `columns` wide.
  [[nodiscard]] static std::string line(std::size_t done, std::size_t total, std::string_view doing,
                                        std::size_t columns);
  /// "1 min 5 s left, "; "" for 0.
  [[nodiscard]] static std::string time_left(double seconds);
  /// The same where `done` of `total` steps took so long; "" before one is done.
  [[nodiscard]] static std::string time_left(std::size_t done, std::size_t total, std::chrono::duration<double> taken);

 private:
  std::size_t total_;
  std::ostream& stream_;
  std::size_t columns_;
  bool drawn_ = false;
  bool tells_time_left_ = false;
  double left_s_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace tessera::tool
