// How far a denoising is: pieces that are done, and within a piece what the speed so far lets expect.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tools/output/progress.h"

namespace tessera::tool {

class DenoiseProgress {
 public:
  /// Work is counted in any unit, the same for all of it.
  explicit DenoiseProgress(double total_work);

  /// Says what is being done.
  void show(const std::string& doing);
  /// Waits for the end of a piece, and notes what that took. False after Ctrl-C: then the piece runs on.
  [[nodiscard]] bool wait(const std::function<bool()>& has_ended, double work, const std::string& doing);
  /// Work a second, as the last piece had it; 0 before there was one.
  [[nodiscard]] double speed() const noexcept { return speed_; }

 private:
  void draw(double done, const std::string& doing);

  double total_;
  double done_ = 0;
  double speed_ = 0;
  Progress progress_;
};

}  // namespace tessera::tool
