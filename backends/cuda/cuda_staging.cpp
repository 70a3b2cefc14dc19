// One piece of page-locked memory a queue: the stream's order alone keeps a piece from being written before it was
// read.
#include "cuda_staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "cuda_error.h"

namespace tessera::cuda {
namespace {

/// Large enough that a host function's start, some microseconds, does not count beside the copy.
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

}  // namespace

/// What a host function is told. Kept by the queue, because a faulted stream calls no host functions any more.
struct Staging::HostCopy {
  enum class State { queued, running, done, abandoned };

  void* to = nullptr;
  const void* from = nullptr;
  std::size_t size_bytes = 0;
  std::atomic<State> state{State::queued};
  HostCopy* next_left = nullptr;

  static void CUDA_CB run(void* self) {
    auto& copy = *static_cast<HostCopy*>(self);
    State expected = State::queued;
    if (!copy.state.compare_exchange_strong(expected, State::running, std::memory_order_acquire)) return;
    std::memcpy(copy.to, copy.from, copy.size_bytes);
    copy.state.store(State::done, std::memory_order_release);  // from here on it may be gone
  }

  /// After this the copy is done, or will never be made.
  void abandon() noexcept {
    State expected = State::queued;
    if (state.compare_exchange_strong(expected, State::abandoned)) return;
    while (state.load(std::memory_order_acquire) == State::running) std::this_thread::yield();
  }

  [[nodiscard]] bool is_done() const noexcept { return state.load(std::memory_order_acquire) == State::done; }

  /// Keeps an abandoned copy for as long as the process lives: the driver may yet call its function, which reads it.
  static void leave(std::unique_ptr<HostCopy> copy) noexcept {
    static std::atomic<HostCopy*> left{nullptr};
    HostCopy* const kept = copy.release();
    kept->next_left = left.load();
    while (!left.compare_exchange_weak(kept->next_left, kept)) {
    }
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
  for (std::unique_ptr<HostCopy>& copy : copies_) {
    if (copy->state.load() == HostCopy::State::abandoned) HostCopy::leave(std::move(copy));
  }
  if (memory_ == nullptr) return;
  static_cast<void>(context_.try_make_current());
  context_.api().cuMemFreeHost(memory_);
}

void Staging::abandon() noexcept {
  const std::lock_guard lock(copies_mutex_);
  for (const std::unique_ptr<HostCopy>& copy : copies_) copy->abandon();
}

bool Staging::prepare() {
  {
    const std::lock_guard lock(copies_mutex_);
    while (!copies_.empty() && copies_.front()->is_done()) copies_.pop_front();
  }
  if (memory_ != nullptr) return true;
  void* memory = nullptr;
  // A refusal may be a passing shortage: the next copy asks again.
  if (context_.api().cuMemHostAlloc(&memory, kPieceBytes, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) return false;
  memory_ = memory;
  return true;
}

void Staging::queue_host_copy(CUstream stream, void* to, const void* from, std::size_t size_bytes) {
  auto copy = std::make_unique<HostCopy>();
  copy->to = to;
  copy->from = from;
  copy->size_bytes = size_bytes;
  HostCopy* const queued = copy.get();
  {
    const std::lock_guard lock(copies_mutex_);
    copies_.push_back(std::move(copy));
  }
  // Refused, it stays in the list all the same: an error of an earlier command may be told here, whatever became of
  // this one.
  check(context_.api().cuLaunchHostFunc(stream, &HostCopy::run, queued), "queueing a copy in host memory");
}

void Staging::upload(CUstream stream, CUdeviceptr destination, const void* host, std::size_t size_bytes) {
  if (!prepare()) {
    return check(context_.api().cuMemcpyHtoDAsync(destination, host, size_bytes, stream), "copying to the card");
  }
  for (std::size_t start = 0; start < size_bytes; start += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, size_bytes - start);
    queue_host_copy(stream, memory_, static_cast<const std::byte*>(host) + start, bytes);
    check(context_.api().cuMemcpyHtoDAsync(destination + start, memory_, bytes, stream), "copying to the card");
  }
}

void Staging::download(CUstream stream, void* host, CUdeviceptr source, std::size_t size_bytes) {
  if (!prepare()) {
    return check(context_.api().cuMemcpyDtoHAsync(host, source, size_bytes, stream), "copying from the card");
  }
  for (std::size_t start = 0; start < size_bytes; start += kPieceBytes) {
    const std::size_t bytes = std::min(kPieceBytes, size_bytes - start);
    check(context_.api().cuMemcpyDtoHAsync(memory_, source + start, bytes, stream), "copying from the card");
    queue_host_copy(stream, static_cast<std::byte*>(host) + start, memory_, bytes);
  }
}

}  // namespace tessera::cuda
