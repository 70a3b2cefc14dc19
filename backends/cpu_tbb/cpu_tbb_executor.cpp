// What both executors share: loops that need no second thread, and the scratch memory.
#include "cpu_tbb_executor.h"

#include <new>
#include <utility>

namespace tessera::cpu_tbb {

namespace {

class LoneExecutor final : public Executor {
 public:
  explicit LoneExecutor(std::shared_ptr<ScratchPool> scratch) : Executor(std::move(scratch)) {}
  [[nodiscard]] int threads() const noexcept override { return 1; }

 private:
  void run(std::int64_t chunks, const Body& body) override { body(0, chunks); }
};

}  // namespace

std::unique_ptr<Executor> Executor::alone() const {
  return std::make_unique<LoneExecutor>(std::make_shared<ScratchPool>(scratch_));
}

void Executor::parallel_for(std::int64_t chunks, const Body& body) {
  if (chunks <= 0) return;
  if (chunks == 1 || threads() == 1) {
    body(0, chunks);
    return;
  }
  run(chunks, body);
}

ScratchPool::Block ScratchPool::take(std::size_t size_bytes, std::thread::id user) noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return lender_ == nullptr ? Block() : lender_->take(size_bytes, user);
  Block* best = nullptr;
  const auto rank = [&](const Block& block) {
    return (block.size_bytes >= size_bytes ? 2 : 0) + (block.last_user == user ? 1 : 0);
  };
  for (Block& block : free_) {
    if (best == nullptr || rank(block) > rank(*best)) best = &block;
  }
  std::swap(*best, free_.back());
  Block taken = std::move(free_.back());
  free_.pop_back();
  return taken;
}

ScratchPool::Loan::Loan(ScratchPool& pool, std::size_t size_bytes) : pool_(pool) {
  const std::thread::id user = std::this_thread::get_id();
  block_ = pool.take(size_bytes, user);
  if (block_.memory == nullptr || block_.size_bytes < size_bytes) {
    constexpr std::align_val_t kBlockAlignment{kAlignment};
    block_ = {};  // one that is too small makes room for a larger one
    block_.memory = {static_cast<std::byte*>(::operator new(size_bytes, kBlockAlignment)),
                     [](std::byte* memory) { ::operator delete(memory, kBlockAlignment); }};
    block_.size_bytes = size_bytes;
  }
  block_.last_user = user;
}

ScratchPool::Loan::~Loan() {
  pool_.give_back(std::move(block_));
}

void ScratchPool::give_back(Block block) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    // The pool's list cannot grow: the block is freed and not kept.
  }
}

ScratchPool::~ScratchPool() {
  if (lender_ == nullptr) return;
  for (Block& block : free_) lender_->give_back(std::move(block));
}

}  // namespace tessera::cpu_tbb
