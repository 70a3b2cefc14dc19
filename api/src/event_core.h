// What an Event shares with its copies.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.h"
#include "queue_core.h"

namespace tessera::detail {

class EventCore {
 public:
  std::shared_ptr<QueueCore> queue;  // outlives the event
  std::unique_ptr<backend::Event> event;
  std::uint64_t sequence = 0;
};

}  // namespace tessera::detail
