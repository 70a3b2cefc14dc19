// Waiting and drawing.
#include "tools/denoise/denoise_progress.h"

#include <algorithm>
#include <thread>

#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {
constexpr std::size_t kSteps = 1000;  // of the bar
constexpr double kMostPause_s = 0.05;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
}  // namespace

DenoiseProgress::DenoiseProgress(double total_work) : total_(total_work), progress_(kSteps) {}

void DenoiseProgress::draw(double done, const std::string& doing) {
  const auto steps = static_cast<std::size_t>(static_cast<double>(kSteps) * std::min(1.0, done / total_));
  progress_.show(std::max<std::size_t>(steps, 1), doing);  // 0 would be drawn at once, however short ago the last was
}

void DenoiseProgress::show(const std::string& doing) {
  stop_if_interrupted();
  draw(done_, doing);
}

bool DenoiseProgress::wait(const std::function<bool()>& has_ended, double work, const std::string& doing) {
  const auto start = std::chrono::steady_clock::now();
  while (!has_ended()) {
    const double taken_s = seconds_since(start);
    if (is_interrupted()) return false;
    draw(done_ + std::min(work, speed_ * taken_s), doing);
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kMostPause_s, taken_s / 8 + 1e-4)));
  }
  speed_ = work / std::max(1e-9, seconds_since(start));
  done_ += work;
  progress_.steps_are_alike();
  return true;
}

}  // namespace tessera::tool
