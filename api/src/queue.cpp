// Queue: checks what is asked for, then hands it to QueueCore.
#include <tessera/queue.h>

#include <array>
#include <utility>

#include "backend/sentence.h"
#include "boundary.h"
#include "core_of.h"
#include "event_core.h"
#include "queue_core.h"
#include "refuse.h"

namespace tessera {
namespace {

using backend::sentence;
using detail::at_boundary;
using detail::Command;
using detail::CommandKind;
using detail::QueueCore;
using detail::refuse;
using detail::slice_of;

/// Copies between devices go through this much pinned memory at a time, two pieces in turn.
constexpr std::size_t kStagingBytes = std::size_t{8} << 20;

/// A moved-from queue holds nothing.
QueueCore& checked(const std::shared_ptr<QueueCore>& core) {
  if (core == nullptr) refuse("the queue holds nothing: it was moved from");
  return *core;
}

void check_view(const UntypedView& view, const QueueCore& queue, std::string_view role) {
  if (!view) refuse(sentence("the ", role, " holds nothing: it was never allocated, was reset or was moved from"));
  if (view.block()->device() != queue.device()) {
    refuse(sentence("the ", role, " lives on ", view.device_name(), ", but ", queue.description(),
                    view.device_name() == queue.device()->id() ? " is of another opening of that device"
                                                               : " is of another device"));
  }
}

void check_host(const UntypedView& view, const void* host, std::size_t count, std::string_view role) {
  if (count != view.size()) {
    refuse(sentence("the host memory has ", count, " elements, but the ", role, " has ", view.size()));
  }
  if (host == nullptr && count != 0)
    refuse(sentence("the host memory is null, but the ", role, " has ", count, " elements"));
}

void check_copy(const UntypedView& destination, const UntypedView& source) {
  if (!source) refuse("the source of the copy holds nothing: it was never allocated, was reset or was moved from");
  if (destination.size() != source.size()) {
    refuse(sentence("the source of the copy has ", source.size(), " elements, but the destination has ",
                    destination.size()));
  }
  if (source.block() == destination.block() &&
      source.offset_bytes() < destination.offset_bytes() + destination.size_bytes() &&
      destination.offset_bytes() < source.offset_bytes() + source.size_bytes()) {
    refuse(sentence("the source of the copy, bytes ", source.offset_bytes(), " to ",
                    source.offset_bytes() + source.size_bytes(), " of its buffer, overlaps the destination, bytes ",
                    destination.offset_bytes(), " to ", destination.offset_bytes() + destination.size_bytes()));
  }
}

/// The source on another device is read in pieces while the pieces before are written here.
void copy_across(QueueCore& queue, const UntypedView& destination, const UntypedView& source) {
  const auto& device = queue.device();
  struct Piece {
    std::shared_ptr<detail::PinnedBlock> memory;
    std::unique_ptr<backend::Event> written;
  };
  const std::size_t total = source.size_bytes();
  const std::size_t piece_bytes = std::min(kStagingBytes, total);
  std::array<Piece, 2> pieces;
  const std::array views{&destination};
  for (std::size_t start = 0, turn = 0; start < total; start += piece_bytes, ++turn) {
    Piece& piece = pieces[turn % 2];
    if (piece.memory == nullptr) piece.memory = device->allocate_pinned(piece_bytes);
    if (piece.written != nullptr) queue.guarded([&] { piece.written->wait(); });
    const std::size_t bytes = std::min(piece_bytes, total - start);
    const UntypedView from(source.block(), DataType::uint8, source.offset_bytes() + start, bytes, false);
    source.block()->device()->download_now(piece.memory->data(), from);
    queue.submit(Command{CommandKind::bring, nullptr, bytes}, views, {.object = piece.memory},
                 [&](backend::Queue& native) {
                   backend::Slice to = slice_of(destination);
                   to.offset_bytes += start;
                   to.size_bytes = bytes;
                   native.upload(to, piece.memory->data());
                 });
    piece.written = queue.record().first;
  }
}

}  // namespace

Queue::Queue(const Device& device, const QueueOptions& options) {
  if (device.core() == nullptr) refuse("the device holds nothing: it was moved from");
  core_ = at_boundary([&] { return QueueCore::make(device.core(), options.label); });
}

Queue::Queue(Queue&&) noexcept = default;

Queue& Queue::operator=(Queue&& other) noexcept {
  if (core_ != nullptr && core_ != other.core_) core_->close();
  core_ = std::move(other.core_);
  return *this;
}

Queue::~Queue() {
  if (core_ != nullptr) core_->close();
}

void Queue::upload_bytes(const UntypedView& destination, const void* host, std::size_t count,
                         std::shared_ptr<void> keep) {
  at_boundary([&] {
    QueueCore& core = checked(core_);
    check_view(destination, core, "destination of the upload");
    check_host(destination, host, count, "destination of the upload");
    if (count == 0) return core.throw_if_poisoned();
    core.submit(Command{CommandKind::upload, nullptr, destination.size_bytes()}, std::array{&destination},
                {.object = std::move(keep)}, [&](backend::Queue& queue) { queue.upload(slice_of(destination), host); });
  });
}

void Queue::download_bytes(const UntypedView& source, void* host, std::size_t count, std::shared_ptr<void> keep) {
  at_boundary([&] {
    QueueCore& core = checked(core_);
    check_view(source, core, "source of the download");
    check_host(source, host, count, "source of the download");
    if (count == 0) return core.throw_if_poisoned();
    core.submit(Command{CommandKind::download, nullptr, source.size_bytes()}, std::array{&source},
                {.object = std::move(keep)}, [&](backend::Queue& queue) { queue.download(host, slice_of(source)); });
  });
}

void Queue::fill_bytes(const UntypedView& destination, const void* value) {
  at_boundary([&] {
    QueueCore& core = checked(core_);
    check_view(destination, core, "destination of the fill");
    if (destination.size() == 0) return core.throw_if_poisoned();
    const std::span pattern(static_cast<const std::byte*>(value), size_bytes(destination.type()));
    core.submit(Command{CommandKind::fill, nullptr, destination.size_bytes()}, std::array{&destination}, {},
                [&](backend::Queue& queue) { queue.fill(slice_of(destination), pattern); });
  });
}

void Queue::copy_bytes(const UntypedView& destination, const UntypedView& source) {
  at_boundary([&] {
    QueueCore& core = checked(core_);
    check_view(destination, core, "destination of the copy");
    check_copy(destination, source);
    if (destination.size() == 0) return core.throw_if_poisoned();
    if (source.block()->device() != core.device()) return copy_across(core, destination, source);
    core.submit(Command{CommandKind::copy, nullptr, source.size_bytes()}, std::array{&destination, &source}, {},
                [&](backend::Queue& queue) { queue.copy(slice_of(destination), slice_of(source)); });
  });
}

Event Queue::record() {
  return at_boundary([&] {
    auto [event, sequence] = checked(core_).record();
    return Event(std::make_shared<detail::EventCore>(core_, std::move(event), sequence));
  });
}

void Queue::wait(const Event& event) {
  at_boundary([&] {
    QueueCore& core = checked(core_);
    const detail::EventCore& waited_for = detail::core_of(event.core(), "event");
    if (waited_for.queue->device() != core.device()) {
      refuse(
          sentence("the event is of ", waited_for.queue->description(), ", but ", core.description(),
                   " can wait on the device only for events of its own device; wait on the host with Event::wait()"));
    }
    core.wait(*waited_for.event, event.core());
  });
}

void Queue::watch_launches() {
  at_boundary([&] { checked(core_).watch_launches(); });
}

std::vector<LaunchFacts> Queue::watched_launches() {
  return at_boundary([&] { return checked(core_).watched_launches(); });
}

void Queue::finish() {
  at_boundary([&] { checked(core_).finish(); });
}

}  // namespace tessera
