// Allocation: cache-line aligned, and in huge pages where a buffer is large enough to fill some.
#include "cpu_tbb_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "cpu_tbb_error.h"

namespace tessera::cpu_tbb {

namespace {

constexpr std::size_t kSmallAlignment = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void MemoryBudget::take(std::size_t size_bytes) {
  std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (size_bytes > limit_bytes_ - used) {
      throw Error(ErrorCode::out_of_memory, "the machine has " + std::to_string(limit_bytes_) +
                                                " bytes, of which CPU buffers hold " + std::to_string(used) +
                                                ", too few are left for a block of " + std::to_string(size_bytes));
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + size_bytes, std::memory_order_relaxed));
}

HostBlock::HostBlock(std::shared_ptr<MemoryBudget> budget, std::size_t size_bytes)
    : budget_(std::move(budget)), size_bytes_(size_bytes) {
  budget_->take(size_bytes);
  const bool is_large = size_bytes >= 2 * kHugePage;
  void* memory = nullptr;
  const int error_number = posix_memalign(&memory, is_large ? kHugePage : kSmallAlignment, size_bytes);
  if (error_number != 0) {
    budget_->give_back(size_bytes);
    throw system_error(ErrorCode::out_of_memory,
                       "the system does not give a block of " + std::to_string(size_bytes) + " bytes", error_number);
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
