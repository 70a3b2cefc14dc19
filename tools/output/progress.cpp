// Drawing of the progress bar.
#include "tools/output/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

constexpr std::size_t kBarWidth = 20;
constexpr auto kRedrawAfter = std::chrono::milliseconds(100);

/// 0 if standard error is no terminal.
std::size_t terminal_columns() {
  if (isatty(STDERR_FILENO) == 0) return 0;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress(std::size_t total) : Progress(total, std::cerr, terminal_columns()) {}

Progress::Progress(std::size_t total, std::ostream& stream, std::size_t columns)
    : total_(total), stream_(stream), columns_(columns) {}

Progress::~Progress() {
  clear();
}

void Progress::show(std::size_t done, std::string_view doing) {
  if (columns_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && done > 0 && now - last_ < kRedrawAfter) return;
  last_ = now;
  drawn_ = true;
  const std::string left = tells_time_left_ ? time_left(done, total_, now - start_) : time_left(left_s_);
  stream_ << "\r\x1b[K" << line(done, total_, left + std::string(doing), columns_ - 1) << std::flush;
}

void Progress::clear() {
  if (!drawn_) return;
  stream_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

std::string Progress::line(std::size_t done, std::size_t total, std::string_view doing, std::size_t columns) {
  const double part = total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kBarWidth));
  std::string text = fmt::format("[{}{}] {:3.0f} % ({}/{}) {}", std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '.'), part * 100, done, total, doing);
  if (text.size() > columns) text.resize(columns);
  return text;
}

std::string Progress::time_left(std::size_t done, std::size_t total, std::chrono::duration<double> taken) {
  if (done == 0 || done >= total) return "";
  return time_left(taken.count() * static_cast<double>(total - done) / static_cast<double>(done));
}

std::string Progress::time_left(double seconds) {
  const double left = std::ceil(seconds);
  if (!(left > 0)) return "";
  if (left < 60) return fmt::format("{:.0f} s left, ", left);
  if (left < 3600) return fmt::format("{:.0f} min {:.0f} s left, ", std::floor(left / 60), std::fmod(left, 60));
  return fmt::format("{:.0f} h {:.0f} min left, ", std::floor(left / 3600), std::floor(std::fmod(left, 3600) / 60));
}

}  // namespace tessera::tool
