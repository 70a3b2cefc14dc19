// The caching allocator: sizes are rounded so that similar buffers share memory, and a block that a queue still uses
// waits in a book of its own until the queue is past it.
#include "allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/sentence.h"
#include "log_events.h"
#include "queue_core.h"
#include "shared_memory.h"
#include "watch.h"

namespace tessera::detail {
namespace {

using backend::sentence;

constexpr std::size_t kSmallestGranule = 512;
constexpr std::size_t kLargestGranule = std::size_t{2} << 20;

bool is_over(const Holding& holding) {
  return std::all_of(holding.uses.begin(), holding.uses.end(), [](const Use& use) { return use.is_over(); });
}

/// Adds what the holding waits for. Of each queue only the last command: those before it end first.
void add_waits(std::vector<Use>& waits, const Holding& holding) {
  for (const Use& use : holding.uses) {
    if (use.is_over()) continue;
    const auto known =
        std::find_if(waits.begin(), waits.end(), [&](const Use& wait) { return wait.progress == use.progress; });
    if (known == waits.end()) {
      waits.push_back(use);
    } else {
      known->sequence = std::max(known->sequence, use.sequence);
    }
  }
}

}  // namespace

Allocator::Allocator(backend::Device& device, std::string device_id, std::shared_ptr<SharedMemory> shared)
    : device_(device), device_id_(std::move(device_id)), shared_(std::move(shared)) {}

Allocator::~Allocator() {
  std::uint64_t bytes = 0;
  for (MemoryBook* const book : {&cached_, &pending_}) {
    for (const auto& [capacity, holding] : *book) bytes += holding.buffer != nullptr ? capacity : 0;
    book->clear();
  }
  if (bytes != 0 && is_logged(LogKind::memory)) log_reserve(LogAction::release, device_id_, bytes);
}

// To an eighth of the size's power of two, so that at most 12.5 % is lost and few sizes differ.
std::size_t Allocator::capacity_of(std::size_t size_bytes) noexcept {
  const std::size_t size = std::max<std::size_t>(size_bytes, 1);
  const std::size_t granule = std::clamp(std::bit_floor(size) / 8, kSmallestGranule, kLargestGranule);
  return size > SIZE_MAX - granule ? size : (size + granule - 1) / granule * granule;
}

Memory Allocator::take(std::size_t size_bytes) {
  const std::size_t capacity = capacity_of(size_bytes);
  MemoryBook fresh;
  try {
    return shared_->with_reclaim([&]() -> Memory {
      if (Memory memory = take_cached(capacity)) return memory;
      const auto entry = fresh.empty() ? fresh.emplace(capacity, Holding()) : fresh.begin();
      entry->second.buffer = device_.allocate(capacity);
      if (is_logged(LogKind::memory)) log_reserve(LogAction::reserve, device_id_, capacity);
      return fresh.extract(entry);
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw Error(ErrorCode::out_of_memory,
                sentence("a buffer of ", size_bytes, " bytes does not fit on ", device_id_, ": ", error.sentence(),
                         "; ", shared_->largest_holders()),
                error.native());
  }
}

Memory Allocator::take_cached(std::size_t capacity_bytes) {
  collect_pending(false);
  const std::lock_guard lock(mutex_);
  const auto found = cached_.lower_bound(capacity_bytes);
  if (found == cached_.end() || found->first > capacity_bytes + capacity_bytes / 8) return {};
  statistics_.cached_bytes -= found->first;
  ++statistics_.cache_hits;
  return cached_.extract(found);
}

void Allocator::give(Memory memory, std::vector<Use> uses) noexcept {
  Holding& holding = memory.mapped();
  holding.uses = std::move(uses);
  const std::size_t capacity = memory.key();
  const bool is_free = is_over(holding);
  if (is_free) holding.uses.clear();
  const std::lock_guard lock(mutex_);
  (is_free ? statistics_.cached_bytes : statistics_.pending_bytes) += capacity;
  (is_free ? cached_ : pending_).insert(std::move(memory));
}

void Allocator::abandon() noexcept {
  for (MemoryBook* book : {&cached_, &pending_}) {
    for (auto& [capacity, holding] : *book) static_cast<void>(holding.buffer.release());
  }
}

void Allocator::collect_pending(bool wait) noexcept {
  // Queues are asked without the lock, because a queue's own thread may be giving memory back at the same time. Memory
  // that waits stays in the book meanwhile, so that another thread that is short of memory waits for it too.
  std::vector<Use> waits;
  try {
    const std::lock_guard lock(mutex_);
    for (const auto& [capacity, holding] : pending_) add_waits(waits, holding);
    if (pending_.empty()) return;
  } catch (const std::bad_alloc&) {
    // No memory for the whole list of queues: only those in it are asked this time.
  }
  for (const Use& use : waits) {
    const auto queue = use.queue.lock();
    if (queue == nullptr) continue;
    static_cast<void>(wait ? queue->wait_until_past(use.sequence) : queue->poll_past(use.sequence));
  }
  const std::lock_guard lock(mutex_);
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    const auto next = std::next(entry);
    if (is_over(entry->second)) {
      statistics_.pending_bytes -= entry->first;
      statistics_.cached_bytes += entry->first;
      Memory memory = pending_.extract(entry);
      memory.mapped().uses.clear();
      cached_.insert(std::move(memory));
    }
    entry = next;
  }
}

std::uint64_t Allocator::trim() noexcept {
  std::uint64_t bytes = 0;
  {
    SharedMemory::Freeing freeing(*shared_);
    MemoryBook freed;
    {
      const std::lock_guard lock(mutex_);
      freed.swap(cached_);
      bytes = std::exchange(statistics_.cached_bytes, 0);
    }
    if (bytes != 0) freeing.gave_back();
    freed.clear();  // as long as `freeing` lives, other threads know that more memory is coming
  }
  if (bytes != 0 && is_logged(LogKind::memory)) log_reserve(LogAction::release, device_id_, bytes);
  return bytes;
}

void Allocator::add_holder(const Holder& holder) {
  const std::lock_guard lock(mutex_);
  holders_.insert(&holder);
  switch (holder.kind()) {
    case Holder::Kind::pinned: statistics_.pinned_bytes += holder.size_bytes(); return;
    case Holder::Kind::kernel: statistics_.held_bytes += holder.size_bytes(); return;
    case Holder::Kind::buffer: break;
  }
  ++statistics_.allocations;
  statistics_.in_use_bytes += holder.size_bytes();
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.in_use_bytes);
}

void Allocator::remove_holder(const Holder& holder) noexcept {
  const std::lock_guard lock(mutex_);
  holders_.erase(&holder);
  switch (holder.kind()) {
    case Holder::Kind::pinned: statistics_.pinned_bytes -= holder.size_bytes(); return;
    case Holder::Kind::kernel: statistics_.held_bytes -= holder.size_bytes(); return;
    case Holder::Kind::buffer: statistics_.in_use_bytes -= holder.size_bytes(); return;
  }
}

MemoryStatistics Allocator::statistics() {
  collect_pending(false);
  const std::uint64_t held_bytes = device_.held_bytes();
  const std::lock_guard lock(mutex_);
  MemoryStatistics statistics = statistics_;
  statistics.held_bytes += held_bytes;
  return statistics;
}

void Allocator::list_holders(std::vector<NamedHolder>& list) {
  const std::size_t backend_bytes = device_.held_bytes();
  if (backend_bytes != 0) list.push_back({backend_bytes, sentence("scratch memory of ", device_id_)});
  const std::lock_guard lock(mutex_);
  for (const Holder* holder : holders_) {
    list.push_back({holder->size_bytes(), sentence(holder->label().empty() ? "unlabelled" : "'" + holder->label() + "'",
                                                   holder->kind() == Holder::Kind::pinned ? " (pinned)" : "", " of ",
                                                   holder->size_bytes(), " bytes on ", device_id_)});
  }
}

}  // namespace tessera::detail
