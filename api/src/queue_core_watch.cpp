// What a queue shows of itself to those who watch.
#include <utility>

#include "queue_core.h"

namespace tessera::detail {

struct QueueCore::Witness {
  QueueCore& queue;
  std::optional<CommandWatch> watch{};

  void begin(const Command& command, const KernelCore* kernel) noexcept { queue.begin_watch(watch, command, kernel); }
  void queued(bool has_taken) noexcept {
    if (watch) watch->queued(*queue.queue_, has_taken);
  }
  void tell() noexcept {
    if (watch) watch->tell();
  }
};

void QueueCore::submit_watched(const Command& command, std::span<const UntypedView* const> views, Keep& keep,
                               const std::function<void(backend::Queue&)>& enqueue) {
  submit_before(Witness{*this}, command, views, keep, enqueue);
}

void QueueCore::begin_watch(std::optional<CommandWatch>& watch, const Command& command,
                            const KernelCore* kernel) noexcept {
  try {
    QueueTrack* const track = device_->track_of(track_, label_.empty() ? "queue" : label_);
    watch.emplace(*device_, label_, track, *queue_, command, kernel);
  } catch (const std::exception&) {
    // Then the command is not watched.
  }
}

void QueueCore::flush_track() noexcept {
  const std::shared_ptr<DeviceTrack> device = device_->track();
  if (device == nullptr) return;
  device->renew_clock();
  device->trace()->flush();
}

}  // namespace tessera::detail
