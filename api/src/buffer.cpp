// Blocks of device memory, and the views of them that buffers and operands are made of.
#include <tessera/buffer.h>

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "block.h"
#include "device_core.h"
#include "log_events.h"
#include "queue_core.h"
#include "watch.h"

namespace tessera {

using backend::sentence;

namespace detail {

Holder::Holder(std::shared_ptr<DeviceCore> device, Kind kind, std::string label, std::size_t size_bytes)
    : device_(std::move(device)), kind_(kind), label_(std::move(label)), size_bytes_(size_bytes) {
  device_->allocator().add_holder(*this);
  if (is_logged(LogKind::memory)) [[unlikely]]
    log_holder(LogAction::allocate, *this);
}

Holder::~Holder() {
  if (device_->is_elsewhere()) return;
  device_->allocator().remove_holder(*this);
  if (is_logged(LogKind::memory)) [[unlikely]]
    log_holder(LogAction::free, *this);
}

Block::Block(std::shared_ptr<DeviceCore> device, Memory memory, std::size_t size_bytes, std::string label)
    : memory_(std::move(memory)), holder_(std::move(device), Holder::Kind::buffer, std::move(label), size_bytes) {}

Block::~Block() {
  if (device()->is_elsewhere()) {
    static_cast<void>(memory_.mapped().buffer.release());
  } else {
    device()->allocator().give(std::move(memory_), std::move(uses_));
  }
}

void Block::note_use(const std::shared_ptr<QueueCore>& queue, std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  for (Use& use : uses_) {
    if (use.progress == queue->progress()) {
      use.sequence = sequence;
      return;
    }
  }
  std::erase_if(uses_, [](const Use& use) { return use.is_over(); });
  uses_.push_back({queue->progress(), queue, sequence});
}

PinnedBlock::PinnedBlock(std::shared_ptr<DeviceCore> device, std::unique_ptr<backend::PinnedMemory> memory,
                         std::size_t size_bytes)
    : holder_(std::move(device), Holder::Kind::pinned, {}, size_bytes), memory_(std::move(memory)) {}

PinnedBlock::~PinnedBlock() {
  if (holder_.device()->is_elsewhere()) static_cast<void>(memory_.release());
}

PinnedMemory::PinnedMemory() noexcept = default;
PinnedMemory::PinnedMemory(std::shared_ptr<PinnedBlock> block) noexcept : block_(std::move(block)) {}
void* PinnedMemory::data() const noexcept {
  return block_ != nullptr ? block_->data() : nullptr;
}
std::size_t PinnedMemory::size_bytes() const noexcept {
  return block_ != nullptr ? block_->size_bytes() : 0;
}

}  // namespace detail

UntypedView::UntypedView() noexcept = default;

UntypedView::UntypedView(std::shared_ptr<detail::Block> block, DataType type, std::size_t offset_bytes,
                         std::size_t count, bool writable) noexcept
    : block_(std::move(block)), offset_bytes_(offset_bytes), count_(count), type_(type), writable_(writable) {}

UntypedView UntypedView::part(std::size_t first, std::size_t count) const {
  if (block_ == nullptr) {
    throw Error(ErrorCode::invalid_argument, "part() is asked of a buffer that holds nothing");
  }
  if (first > count_ || count > count_ - first) {
    throw Error(ErrorCode::invalid_argument,
                sentence("the part starts at element ", first, " and is ", count, " long, but the buffer",
                         block_->label().empty() ? "" : " '" + block_->label() + "'", " has ", count_, " elements"));
  }
  return {block_, type_, offset_bytes_ + first * tessera::size_bytes(type_), count, writable_};
}

UntypedView UntypedView::as_const() const {
  UntypedView view(*this);
  view.writable_ = false;
  return view;
}

std::string UntypedView::device_name() const {
  return block_ != nullptr ? block_->device()->id() : std::string();
}

}  // namespace tessera
