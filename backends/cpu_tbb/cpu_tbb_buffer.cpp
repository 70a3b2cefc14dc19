// Allocation: cache-line aligned, and in huge pages where a buffer is large enough to fill some.
#include "cpu_tbb_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

#include "cpu_tbb_error.h"
#include "cpu_tbb_fault_hook.h"

namespace tessera::cpu_tbb {

namespace {

constexpr std::size_t kSmallAlignment = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

HostBlock::HostBlock(std::shared_ptr<MemoryBudget> budget, std::size_t size_bytes)
    : budget_(std::move(budget)), size_bytes_(size_bytes) {
  if (!budget_->try_take(size_bytes)) throw out_of_memory(size_bytes, "a block", *budget_);
  const bool is_large = size_bytes >= 2 * kHugePage;
  void* memory = nullptr;
  if (is_refused(Refusable::memory) ||
      posix_memalign(&memory, is_large ? kHugePage : kSmallAlignment, size_bytes) != 0) {
    budget_->give_back(size_bytes);
    throw out_of_memory(size_bytes, "a block", *budget_);
  }
  // Advice only: without it the memory is as good, in small pages.
  if (is_large) static_cast<void>(madvise(memory, size_bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
  data_ = static_cast<std::byte*>(memory);
}

HostBlock::~HostBlock() {
  std::free(data_);
  budget_->give_back(size_bytes_);
}

std::byte* address_of(const backend::Slice& slice) noexcept {
  return static_cast<CpuTbbBuffer*>(slice.buffer)->data() + slice.offset_bytes;
}

}  // namespace tessera::cpu_tbb
