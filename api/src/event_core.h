// What an Event shares with its copies.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backend/backend.h"
#include "queue_core.h"

namespace tessera::detail {

class EventCore {
 public:
  EventCore(std::shared_ptr<QueueCore> its_queue, std::unique_ptr<backend::Event> its_event, std::uint64_t its_sequence)
      : queue(std::move(its_queue)), event(std::move(its_event)), sequence(its_sequence) {}
  ~EventCore() {
    if (queue->device()->is_elsewhere()) static_cast<void>(event.release());
  }
  EventCore(const EventCore&) = delete;
  EventCore& operator=(const EventCore&) = delete;

  const std::shared_ptr<QueueCore> queue;  // before `event`, so that it is destroyed after it
  std::unique_ptr<backend::Event> event;
  const std::uint64_t sequence;
};

}  // namespace tessera::detail
