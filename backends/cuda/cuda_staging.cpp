// One piece of page-locked memory a queue: the stream's order alone keeps a piece from being written before it was
// read.
#include "cuda_staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cuda_error.h"

namespace tessera::cuda {
namespace {

/// Large enough that a host function's start, some microseconds, does not count beside the copy.
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

}  // namespace

/// What a host function is told. Kept by the queue, because a faulted stream calls no host functions any more.
struct Staging::HostCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t size_bytes = 0;
  std::atomic<bool> done{false};

  static void CUDA_CB run(void* self) {
    auto& copy = *static_cast<HostCopy*>(self);
    std::memcpy(copy.to, copy.from, copy.size_bytes);
    copy.done.store(true, std::memory_order_release);
  }
};

bool is_page_locked(const Context& context, const void* host) noexcept {
  // The call for several attributes answers 0 for memory that the driver has never seen; the one for a single attribute
  // fails there, which tools that watch the driver report.
  CUmemorytype type{};
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* answers[] = {&type};
  const auto address = reinterpret_cast<CUdeviceptr>(host);
  return context.api().cuPointerGetAttributes(1, asked, answers, address) == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

Staging::Staging(const Context& context) : context_(context) {}

Staging::~Staging() {
  if (memory_ != nullptr && context_.try_make_current()) context_.api().cuMemFreeHost(memory_);
}

void Staging::prepare() {
  while (!copies_.empty() && copies_.front()->done.load(std::memory_order_acquire)) copies_.pop_front();
  if (memory_ != nullptr) return;
  check(context_.api().cuMemHostAlloc(&memory_, kPieceBytes, CU_MEMHOSTALLOC_PORTABLE),
        "taking page-locked memory for copies from and to ordinary memory");
}

void Staging::queue_host_copy(CUstream stream, void* to, const void* from, std::size_t size_bytes) {
  auto& copy = *copies_.emplace_back(std::make_unique<HostCopy>());
  copy.to = to;
  copy.from = from;
  copy.size_bytes = size_bytes;
  const CUresult result = context_.api().cuLaunchHostFunc(stream, &HostCopy::run, &copy);
  if (result == CUDA_SUCCESS) return;
  copies_.pop_back();
  throw cuda_error(result, "queueing a copy in host memory");
}

void Staging::upload(CUstream stream, CUdeviceptr destination, const void* host, std::size_t size_bytes) {
  prepare();
  for (std::size_t start = 0; start < size_bytes; start += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, size_bytes - start);
    queue_host_copy(stream, memory_, static_cast<const std::byte*>(host) + start, bytes);
    check(context_.api().cuMemcpyHtoDAsync(destination + start, memory_, bytes, stream), "copying to the card");
  }
}

void Staging::download(CUstream stream, void* host, CUdeviceptr source, std::size_t size_bytes) {
  prepare();
  for (std::size_t start = 0; start < size_bytes; start += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, size_bytes - start);
    check(context_.api().cuMemcpyDtoHAsync(memory_, source + start, bytes, stream), "copying from the card");
    queue_host_copy(stream, static_cast<std::byte*>(host) + start, memory_, bytes);
  }
}

}  // namespace tessera::cuda
