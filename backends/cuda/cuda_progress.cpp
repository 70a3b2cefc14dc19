// Marks through cuStreamWriteValue32: about a microsecond each, 1.5 us measured on an H200, nothing for operators.
#include "cuda_progress.h"

#include <atomic>

namespace tessera::cuda {

ProgressMarks::ProgressMarks(const Context& context) noexcept : context_(context) {
  const DriverApi& api = context_.api();
  if (api.cuStreamWriteValue32 == nullptr || !context_.try_make_current()) return;
  void* memory = nullptr;
  if (api.cuMemHostAlloc(&memory, sizeof(std::uint32_t), CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) return;
  if (api.cuMemHostGetDevicePointer(&address_, memory, 0) != CUDA_SUCCESS) {
    api.cuMemFreeHost(memory);
    return;
  }
  written_ = static_cast<std::uint32_t*>(memory);
  *written_ = 0;
}

ProgressMarks::~ProgressMarks() {
  if (written_ == nullptr || !context_.try_make_current()) return;
  context_.api().cuMemFreeHost(written_);
}

void ProgressMarks::add(CUstream stream, std::uint64_t command) noexcept {
  if (written_ == nullptr) return;
  const std::uint64_t done = last_written();
  while (!queued_.empty() && queued_.front() <= done) queued_.pop_front();
  if (queued_.size() >= kMarkedSingly && ++unmarked_ < kMarkedTogether) return;
  unmarked_ = 0;
  // A refusal (no such operation on this card, or a fault meanwhile) only leaves this command without a mark.
  const auto value = static_cast<cuuint32_t>(command);
  if (context_.api().cuStreamWriteValue32(stream, address_, value, CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS) {
    return;
  }
  newest_ = command;
  try {
    queued_.push_back(command);
  } catch (const std::exception&) {
    queued_.clear();
  }
}

std::uint64_t ProgressMarks::last_written() const noexcept {
  // Far fewer than 2^32 commands are ever pending, so the distance in the low halves is the true one.
  const std::uint32_t behind =
      static_cast<std::uint32_t>(newest_) - std::atomic_ref(*written_).load(std::memory_order_acquire);
  return newest_ - behind;
}

void ProgressMarks::narrow(backend::Suspects& suspects) const noexcept {
  if (written_ == nullptr || newest_ == 0) return;
  const std::uint64_t done = last_written();
  if (done >= suspects.first) suspects.first = done + 1;
  for (const std::uint64_t command : queued_) {
    if (command <= done) continue;
    if (command < suspects.last) suspects.last = command;
    break;
  }
}

}  // namespace tessera::cuda
