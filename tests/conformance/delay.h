// Work that takes a known time on any device: for what must be seen while a queue is busy.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include <tessera/tessera.h>

#include "own_kernels.h"

namespace tessera::testing_support {

/// The delay kernel of a device with the number of rounds that take about `seconds` there, or more.
class Delay {
 public:
  /// Compiles and measures. Nothing if the device's backend has no compiler here.
  static std::optional<Delay> make(const Device& device, double seconds) {
    try {
      return Delay(device, seconds);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable) return std::nullopt;
      throw;
    }
  }
  /// Queues it. It reads and writes element 0.
  void launch(Queue& queue, const BufferView<std::uint32_t>& buffer) const {
    queue.launch(kernel_, {.groups = {1}, .group_size = {1}}, buffer, rounds_);
  }
  [[nodiscard]] std::int64_t rounds() const { return rounds_; }

 private:
  Delay(const Device& device, double seconds) : kernel_(device.compile(delay_source())) {
    using Clock = std::chrono::steady_clock;
    Queue queue(device);
    const auto buffer = device.upload<std::uint32_t>(std::vector<std::uint32_t>{1});
    launch(queue, buffer);
    queue.finish();  // drivers finish compiling at the first launch
    const auto measure = [&] {
      const auto start = Clock::now();
      launch(queue, buffer);
      queue.finish();
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    // The shorter of two: on a busy machine one run may take many times as long as it needs.
    double taken = 0;
    while ((taken = std::min(measure(), measure())) < seconds / 8) rounds_ *= 4;
    rounds_ = static_cast<std::int64_t>(static_cast<double>(rounds_) * std::max(1.0, seconds / taken));
  }

  OwnKernel kernel_;
  std::int64_t rounds_ = 1000;
};

}  // namespace tessera::testing_support

/// Makes `name`, or skips the test where own kernels cannot be compiled.
#define TESSERA_DELAY_OR_SKIP(name, device, seconds)                                  \
  const auto name##_made = tessera::testing_support::Delay::make(device, seconds);    \
  if (!name##_made) GTEST_SKIP() << "own kernels cannot be compiled for this device"; \
  const auto& name = *name##_made
