// The caching allocator: sizes are rounded so that similar buffers share memory, and a block that a queue still uses
// waits in a list of its own until the queue is past it.
#include "allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/sentence.h"
#include "queue_core.h"

namespace tessera::detail {
namespace {

using backend::sentence;

constexpr std::size_t kSmallestGranule = 512;
constexpr std::size_t kLargestGranule = std::size_t{2} << 20;
constexpr std::size_t kLargestNamed = 5;

/// Rounds up to an eighth of the size's power of two, so that at most 12.5 % is lost and few sizes differ.
std::size_t rounded(std::size_t size_bytes) {
  const std::size_t granule = std::clamp(std::bit_floor(size_bytes) / 8, kSmallestGranule, kLargestGranule);
  return size_bytes > SIZE_MAX - granule ? size_bytes : (size_bytes + granule - 1) / granule * granule;
}

}  // namespace

Allocator::Allocator(backend::Device& device, std::string device_id)
    : device_(device), device_id_(std::move(device_id)) {}

Memory Allocator::take(std::size_t size_bytes) {
  const std::size_t capacity = rounded(std::max<std::size_t>(size_bytes, 1));
  if (Memory memory = take_cached(capacity); memory.buffer != nullptr) return memory;
  try {
    return {device_.allocate(capacity), capacity};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
  }
  collect_pending(true);
  if (Memory memory = take_cached(capacity); memory.buffer != nullptr) return memory;
  trim();
  try {
    return {device_.allocate(capacity), capacity};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw Error(ErrorCode::out_of_memory,
                sentence("a buffer of ", size_bytes, " bytes does not fit on ", device_id_, ": ", error.sentence(),
                         "; ", largest_live()),
                error.native());
  }
}

Memory Allocator::take_cached(std::size_t capacity) {
  collect_pending(false);
  const std::lock_guard lock(mutex_);
  const auto found = cached_.lower_bound(capacity);
  if (found == cached_.end() || found->first > capacity + capacity / 8) return {};
  Memory memory = std::move(found->second);
  cached_.erase(found);
  statistics_.cached_bytes -= memory.capacity_bytes;
  ++statistics_.cache_hits;
  return memory;
}

void Allocator::give(Memory memory, std::vector<Use> uses) noexcept {
  std::erase_if(uses, [](const Use& use) {
    const auto queue = use.queue.lock();
    return queue == nullptr || queue->is_past(use.sequence);
  });
  const std::lock_guard lock(mutex_);
  if (uses.empty()) return add_cached(std::move(memory));
  statistics_.pending_bytes += memory.capacity_bytes;
  pending_.push_back({std::move(memory), std::move(uses)});
}

void Allocator::add_cached(Memory memory) {
  statistics_.cached_bytes += memory.capacity_bytes;
  const std::size_t capacity = memory.capacity_bytes;
  cached_.emplace(capacity, std::move(memory));
}

void Allocator::collect_pending(bool block) {
  std::vector<Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return;
    pending.swap(pending_);
  }
  // Queues are asked without the lock: a queue's own thread may be giving memory back meanwhile.
  for (Pending& entry : pending) {
    std::erase_if(entry.uses, [&](const Use& use) {
      const auto queue = use.queue.lock();
      if (queue == nullptr) return true;
      return block ? queue->wait_until_past(use.sequence) : queue->poll_past(use.sequence);
    });
  }
  const std::lock_guard lock(mutex_);
  for (Pending& entry : pending) {
    if (!entry.uses.empty()) {
      pending_.push_back(std::move(entry));
      continue;
    }
    statistics_.pending_bytes -= entry.memory.capacity_bytes;
    add_cached(std::move(entry.memory));
  }
}

void Allocator::add_live(const Block& block) {
  const std::lock_guard lock(mutex_);
  live_.insert(&block);
  ++statistics_.allocations;
  statistics_.in_use_bytes += block.size_bytes();
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.in_use_bytes);
}

void Allocator::remove_live(const Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  live_.erase(&block);
  statistics_.in_use_bytes -= block.size_bytes();
}

MemoryStatistics Allocator::statistics() {
  collect_pending(false);
  const std::lock_guard lock(mutex_);
  return statistics_;
}

std::uint64_t Allocator::trim() {
  collect_pending(false);
  std::multimap<std::size_t, Memory> freed;
  {
    const std::lock_guard lock(mutex_);
    freed.swap(cached_);
    statistics_.cached_bytes = 0;
  }
  std::uint64_t bytes = 0;
  for (const auto& [capacity, memory] : freed) bytes += capacity;
  return bytes;
}

std::string Allocator::largest_live() {
  const std::lock_guard lock(mutex_);
  std::vector<const Block*> blocks(live_.begin(), live_.end());
  std::sort(blocks.begin(), blocks.end(),
            [](const Block* a, const Block* b) { return a->size_bytes() > b->size_bytes(); });
  std::vector<std::string> names;
  for (const Block* block : blocks) {
    if (names.size() == kLargestNamed) break;
    names.push_back(sentence(block->label().empty() ? "unlabelled" : "'" + block->label() + "'", " of ",
                             block->size_bytes(), " bytes"));
  }
  return sentence("live buffers hold ", statistics_.in_use_bytes, " bytes in ", blocks.size(), " buffers, largest ",
                  backend::enumerate(names));
}

}  // namespace tessera::detail
