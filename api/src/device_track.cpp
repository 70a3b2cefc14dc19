// Compares a device's clock with the host's: an event on an idle queue is passed between the call that records it and
// the end of the wait for it.
#include "device_track.h"

#include <cmath>
#include <utility>

namespace tessera::detail {
namespace {

/// The shortest of so many comparisons counts: what delays the host makes it longer.
constexpr int kComparisons = 5;
constexpr std::int64_t kClockGoodFor_ns = 1'000'000'000;

}  // namespace

DeviceTrack::DeviceTrack(std::shared_ptr<Trace> trace, backend::Device& device, std::string_view name)
    : trace_(std::move(trace)), process_(trace_->add_process(name)) {
  try {
    queue_ = device.make_queue();
    compare_clocks();
  } catch (const std::exception&) {
    origin_.reset();  // without the device's clock spans have the host's times
  }
}

DeviceTrack::~DeviceTrack() {
  origin_.reset();
  if (queue_ != nullptr && !queue_->drain()) static_cast<void>(queue_.release());
}

void DeviceTrack::compare_clocks() {
  std::int64_t shortest_ns = INT64_MAX;
  for (int i = 0; i < kComparisons; ++i) {
    const std::int64_t before_ns = trace_->now_ns();
    std::unique_ptr<backend::Event> event = queue_->record();
    event->wait();
    const std::int64_t after_ns = trace_->now_ns();
    if (after_ns - before_ns >= shortest_ns) continue;
    shortest_ns = after_ns - before_ns;
    origin_ns_ = before_ns + shortest_ns / 2;
    origin_ = std::move(event);
  }
  compared_ns_ = trace_->now_ns();
}

std::optional<std::int64_t> DeviceTrack::ns_of(backend::Event& event) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (origin_ == nullptr) return std::nullopt;
    const double seconds = event.seconds_since(*origin_);
    if (!std::isfinite(seconds) || std::abs(seconds) > 1e9) return std::nullopt;
    return origin_ns_ + std::llround(seconds * 1e9);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void DeviceTrack::renew_clock() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (origin_ != nullptr && trace_->now_ns() - compared_ns_ > kClockGoodFor_ns) compare_clocks();
  } catch (const std::exception&) {
    // The comparison before stays good.
  }
}

void DeviceTrack::abandon() noexcept {
  static_cast<void>(origin_.release());
  static_cast<void>(queue_.release());
}

}  // namespace tessera::detail
