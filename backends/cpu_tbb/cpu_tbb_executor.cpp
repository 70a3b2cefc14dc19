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
  return std::make_unique<LoneExecutor>(scratch_);
}

void Executor::parallel_for(std::int64_t chunks, const Body& body) {
  if (chunks <= 0) return;
  if (chunks == 1 || threads() == 1) {
    body(0, chunks);
    return;
  }
  run(chunks, body);
}

ScratchPool::Loan::Loan(ScratchPool& pool, std::size_t size_bytes) : pool_(pool) {
  Block too_small;  // makes room in the pool for the larger one; freed after the lock
  {
    const std::lock_guard lock(pool.mutex_);
    for (Block& block : pool.free_) {
      if (block.size_bytes >= size_bytes || &block == &pool.free_.back()) {
        std::swap(block, pool.free_.back());
        (pool.free_.back().size_bytes >= size_bytes ? block_ : too_small) = std::move(pool.free_.back());
        pool.free_.pop_back();
        break;
      }
    }
  }
  if (block_.memory != nullptr) return;
  constexpr std::align_val_t kBlockAlignment{kAlignment};
  block_.memory = {static_cast<std::byte*>(::operator new(size_bytes, kBlockAlignment)),
                   [](std::byte* memory) { ::operator delete(memory, kBlockAlignment); }};
  block_.size_bytes = size_bytes;
}

ScratchPool::Loan::~Loan() {
  try {
    const std::lock_guard lock(pool_.mutex_);
    pool_.free_.push_back(std::move(block_));
  } catch (const std::bad_alloc&) {
    // The pool's list cannot grow: the block is freed and not kept.
  }
}

}  // namespace tessera::cpu_tbb
