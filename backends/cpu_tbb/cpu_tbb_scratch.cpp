// Scratch memory: one shelf of blocks for each thread, and large pages for large blocks.
#include "cpu_tbb_scratch.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <limits>
#include <new>

#include "cpu_tbb_error.h"
#include "cpu_tbb_fault_hook.h"

namespace tessera::cpu_tbb {

namespace {

/// The calling thread's number, in the order in which threads first asked, from 1.
std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> asked{0};
  // Model initial-exec puts this into the memory that every thread starts with. By the usual model for plug-ins that
  // memory is allocated on first use, and a failure to allocate it ends the process.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::size_t number = 0;
  if (number == 0) number = 1 + asked.fetch_add(1, std::memory_order_relaxed);
  return number;
}

/// From half this size on blocks lie in pages of 2 MiB, as far as the system has any. cnn_layer's winograd writes to 36
/// or 64 places far apart in turn, which are more small pages than a processor keeps translations for: large pages made
/// 256 -> 512 channels, 3 x 3, 28 x 28 4 % faster (one core of a Xeon).
constexpr std::size_t kLargePageBytes = 2 << 20;
constexpr std::size_t kSmallestInLargePages = kLargePageBytes / 2;
/// More than any machine has, but small enough to be rounded up without overflow.
constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max() / 2;

/// What a block of so many bytes takes: whole large pages, or as it is.
std::size_t bytes_of_block(std::size_t size_bytes) noexcept {
  if (size_bytes < kSmallestInLargePages || size_bytes > kMostBytes) return size_bytes;
  return (size_bytes + kLargePageBytes - 1) / kLargePageBytes * kLargePageBytes;
}
std::align_val_t alignment_of_block(std::size_t size_bytes) noexcept {
  return std::align_val_t(size_bytes < kSmallestInLargePages ? ScratchPool::kAlignment : kLargePageBytes);
}

}  // namespace

ScratchPool::Block ScratchPool::Block::make(std::size_t size_bytes) noexcept {
  Block block;
  if (is_refused(Refusable::memory)) return block;
  void* const memory = ::operator new(size_bytes, alignment_of_block(size_bytes), std::nothrow);
  if (memory == nullptr) return block;
#if defined(__linux__)
  if (size_bytes >= kSmallestInLargePages) ::madvise(memory, size_bytes, MADV_HUGEPAGE);  // refused, pages are small
#endif
  block.memory_ = static_cast<std::byte*>(memory);
  block.size_bytes_ = size_bytes;
  return block;
}

ScratchPool::Block::~Block() {
  if (memory_ != nullptr) ::operator delete(memory_, alignment_of_block(size_bytes_));
}

ScratchPool::Block ScratchPool::Shelf::take_fitting(std::size_t size_bytes) noexcept {
  if (largest_bytes_.load(std::memory_order_relaxed) < size_bytes) return {};
  const std::lock_guard lock(mutex_);
  std::size_t best = blocks_.size();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::size_t bytes = blocks_[i].size_bytes();
    if (bytes >= size_bytes && (best == blocks_.size() || bytes < blocks_[best].size_bytes())) best = i;
  }
  return best == blocks_.size() ? Block() : take(best);
}

ScratchPool::Block ScratchPool::Shelf::take_any() noexcept {
  if (largest_bytes_.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard lock(mutex_);
  return blocks_.empty() ? Block() : take(blocks_.size() - 1);
}

ScratchPool::Block ScratchPool::Shelf::take(std::size_t index) noexcept {
  std::swap(blocks_[index], blocks_.back());
  Block taken = std::move(blocks_.back());
  blocks_.pop_back();
  std::size_t largest = 0;
  for (const Block& block : blocks_) largest = std::max(largest, block.size_bytes());
  largest_bytes_.store(largest, std::memory_order_relaxed);
  return taken;
}

bool ScratchPool::Shelf::put(Block& block) noexcept {
  const std::size_t size_bytes = block.size_bytes();
  const std::lock_guard lock(mutex_);
  try {
    blocks_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    return false;
  }
  largest_bytes_.store(std::max(largest_bytes_.load(std::memory_order_relaxed), size_bytes), std::memory_order_relaxed);
  return true;
}

ScratchPool::Shelf& ScratchPool::shelf(std::size_t distance) noexcept {
  return shelves_[(thread_number() + distance) % kShelves];
}

ScratchPool::Block ScratchPool::take(std::size_t size_bytes) noexcept {
  for (std::size_t distance = 0; distance < kShelves; ++distance) {
    Block block = shelf(distance).take_fitting(size_bytes);
    if (block.data() != nullptr) return block;
  }
  for (std::size_t distance = 0; distance < kShelves; ++distance) {
    Block block = shelf(distance).take_any();
    if (block.data() != nullptr) return block;
  }
  return {};
}

ScratchPool::Block ScratchPool::make(std::size_t size_bytes) noexcept {
  if (!budget_->try_take(size_bytes)) return {};
  Block block = Block::make(size_bytes);
  if (block.data() == nullptr) {
    budget_->give_back(size_bytes);
  } else {
    held_bytes_.fetch_add(size_bytes, std::memory_order_relaxed);
  }
  return block;
}

void ScratchPool::free(Block block) noexcept {
  const std::size_t size_bytes = block.size_bytes();
  block = Block();
  held_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed);
  budget_->give_back(size_bytes);
}

std::uint64_t ScratchPool::trim() noexcept {
  std::uint64_t freed_bytes = 0;
  for (Shelf& shelf : shelves_) {
    for (Block block = shelf.take_any(); block.data() != nullptr; block = shelf.take_any()) {
      freed_bytes += block.size_bytes();
      free(std::move(block));
    }
  }
  return freed_bytes;
}

ScratchPool::Loan::Loan(ScratchPool& pool, std::size_t size_bytes) : pool_(pool) {
  if (size_bytes == 0) return;
  block_ = pool.take(size_bytes);
  if (block_.size_bytes() >= size_bytes) return;
  if (block_.data() != nullptr) pool.free(std::move(block_));  // one that is too small makes room for a larger one
  const std::size_t block_bytes = bytes_of_block(size_bytes);
  block_ = pool.make(block_bytes);
  if (block_.data() == nullptr && pool.trim() > 0) block_ = pool.make(block_bytes);
  if (block_.data() == nullptr && pool.reclaim_ && pool.reclaim_()) block_ = pool.make(block_bytes);
  if (block_.data() == nullptr) throw out_of_memory(block_bytes, "scratch memory", *pool.budget_);
}

ScratchPool::Loan::~Loan() {
  if (block_.data() != nullptr && !pool_.shelf(0).put(block_)) pool_.free(std::move(block_));
}

}  // namespace tessera::cpu_tbb
