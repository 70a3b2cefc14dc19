// Times commands by an event before and an event behind each.
#include "queue_track.h"

#include <algorithm>
#include <utility>

namespace tessera::detail {
namespace {

/// From so many on, what has ended is looked for with every command.
constexpr std::size_t kManyPending = 256;
/// The most that wait: a program may queue without end and never look. What comes then is left out, with a remark.
constexpr std::size_t kMostPending = std::size_t{1} << 16;

std::unique_ptr<backend::Event> record_if_possible(backend::Queue& queue) noexcept {
  try {
    return queue.record();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

QueueTrack::QueueTrack(std::shared_ptr<DeviceTrack> device, std::string_view name)
    : device_(std::move(device)), line_(device_->add_line(name)) {}

void QueueTrack::begin(backend::Queue& queue, std::string name, const char* category, std::string arguments) noexcept {
  if (pending_.size() >= kManyPending) collect();
  if (pending_.size() >= kMostPending) {
    if (!std::exchange(is_too_long_, true)) {
      device_->trace()->add_remark(line_, "commands are left out: too many wait for their end");
    }
    return;
  }
  is_too_long_ = false;
  beginning_ = Pending{};
  beginning_->name = std::move(name);
  beginning_->category = category;
  beginning_->arguments = std::move(arguments);
  beginning_->begin = record_if_possible(queue);
  beginning_->begin_ns = device_->trace()->now_ns();
}

void QueueTrack::end(backend::Queue& queue, bool has_taken) noexcept {
  if (!beginning_) return;
  if (has_taken) {
    beginning_->end_ns = device_->trace()->now_ns();
    beginning_->end = record_if_possible(queue);
    try {
      pending_.push_back(std::move(*beginning_));
    } catch (const std::bad_alloc&) {
      // A span less.
    }
  }
  beginning_.reset();
}

void QueueTrack::collect() noexcept {
  while (!pending_.empty()) {
    const Pending& command = pending_.front();
    try {
      if (command.end != nullptr && !command.end->is_done()) return;
      write(command);
    } catch (const std::exception&) {
      device_->trace()->add_remark(line_, "a command fails", command.name);
    }
    pending_.pop_front();
  }
}

void QueueTrack::write(const Pending& command) noexcept {
  const auto begin = command.begin != nullptr ? device_->ns_of(*command.begin) : std::nullopt;
  const auto end = command.end != nullptr ? device_->ns_of(*command.end) : std::nullopt;
  const bool by_device = begin && end;
  const std::int64_t begin_ns = std::max(by_device ? *begin : command.begin_ns, last_end_ns_);
  last_end_ns_ = std::max(by_device ? *end : command.end_ns, begin_ns);
  const char* const clock = by_device ? "\"clock\":\"device\"" : "\"clock\":\"host\"";
  try {
    device_->trace()->add(line_, {command.name, command.category, begin_ns, last_end_ns_,
                                  command.arguments.empty() ? clock : command.arguments + "," + clock});
  } catch (const std::bad_alloc&) {
    // A span less.
  }
}

void QueueTrack::abandon() noexcept {
  const auto leave = [](Pending& command) {
    static_cast<void>(command.begin.release());
    static_cast<void>(command.end.release());
  };
  if (beginning_) leave(*beginning_);
  for (Pending& command : pending_) leave(command);
  device_->abandon();
}

}  // namespace tessera::detail
