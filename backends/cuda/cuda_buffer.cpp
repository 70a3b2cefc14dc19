// Plain allocations only: managed memory would move pages behind the program's back and hide what a copy costs.
#include "cuda_buffer.h"

#include <utility>

#include "backend/sentence.h"
#include "cuda_error.h"

namespace tessera::cuda {

using backend::sentence;

CudaBuffer::CudaBuffer(std::shared_ptr<Context> context, std::size_t size_bytes) : context_(std::move(context)) {
  context_->make_current();
  check(context_->api().cuMemAlloc(&address_, size_bytes),
        sentence("allocating ", size_bytes, " bytes of the card's memory"));
}

CudaBuffer::~CudaBuffer() {
  static_cast<void>(context_->try_make_current());
  context_->api().cuMemFree(address_);
}

CudaPinnedMemory::CudaPinnedMemory(std::shared_ptr<Context> context, std::size_t size_bytes)
    : context_(std::move(context)) {
  context_->make_current();
  // Portable: page-locked for every card of the process, so that copies between two of them need no second staging.
  check(context_->api().cuMemHostAlloc(&data_, size_bytes, CU_MEMHOSTALLOC_PORTABLE),
        sentence("page-locking ", size_bytes, " bytes of host memory"));
}

CudaPinnedMemory::~CudaPinnedMemory() {
  static_cast<void>(context_->try_make_current());
  context_->api().cuMemFreeHost(data_);
}

}  // namespace tessera::cuda
