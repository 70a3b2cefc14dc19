// Event: a point on a queue, and the time between two.
#include "event_core.h"

#include <tessera/queue.h>

#include "backend/sentence.h"

namespace tessera {

void Event::wait() const {
  core_->queue->guarded([&] { core_->event->wait(); });
  core_->queue->note_past(core_->sequence);
}

bool Event::is_done() const {
  const bool done = core_->queue->guarded([&] { return core_->event->is_done(); });
  if (done) core_->queue->note_past(core_->sequence);
  return done;
}

double seconds_between(const Event& start, const Event& stop) {
  const auto& from = start.core()->queue->device();
  const auto& to = stop.core()->queue->device();
  if (from != to) {
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("the start event is of ", from->id(), " and the stop event of ", to->id(),
                                  from->id() == to->id() ? ", opened another time" : "",
                                  ", but the time between two events needs one device"));
  }
  start.wait();
  stop.wait();
  return stop.core()->event->seconds_since(*start.core()->event);
}

}  // namespace tessera
