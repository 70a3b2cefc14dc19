// Event: a point on a queue, and the time between two.
#include "event_core.h"

#include <tessera/queue.h>

#include <optional>

#include "backend/sentence.h"
#include "boundary.h"
#include "core_of.h"
#include "host_span.h"
#include "watch.h"

namespace tessera {

void Event::wait() const {
  detail::at_boundary([&] {
    detail::EventCore& core = detail::core_of(core_, "event");
    std::optional<detail::HostSpan> span;
    if (detail::is_watched(detail::kWatchCalls)) [[unlikely]]
      span.emplace(backend::sentence("waiting for an event of ", core.queue->description()));
    core.queue->guarded([&] { core.event->wait(); });
    core.queue->note_past(core.sequence);
  });
}

bool Event::is_done() const {
  return detail::at_boundary([&] {
    detail::EventCore& core = detail::core_of(core_, "event");
    const bool done = core.queue->guarded([&] { return core.event->is_done(); });
    if (done) core.queue->note_past(core.sequence);
    return done;
  });
}

double seconds_between(const Event& start, const Event& stop) {
  const auto& from = detail::core_of(start.core(), "start event").queue->device();
  const auto& to = detail::core_of(stop.core(), "stop event").queue->device();
  if (from != to) {
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("the start event is of ", from->id(), " and the stop event of ", to->id(),
                                  from->id() == to->id() ? ", opened another time" : "",
                                  ", but the time between two events needs one device"));
  }
  start.wait();
  stop.wait();
  return detail::at_boundary([&] { return stop.core()->event->seconds_since(*start.core()->event); });
}

}  // namespace tessera
