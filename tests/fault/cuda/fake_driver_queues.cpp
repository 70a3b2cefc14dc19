// libcuda.so.1 without a card: memory, copies, streams and events.
#include <cstring>
#include <thread>

#include "fault/cuda/fake_card.h"

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

namespace tessera::fake {

CUresult ask_context_of_this_thread();

namespace {

/// Queues `work`, if the context and the stream are there.
CUresult queue(CUstream stream, std::function<void()> work) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  const auto line = card().find(stream);
  if (line == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  line->push(std::move(work));
  return CUDA_SUCCESS;
}

void* host(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

template <class T>
CUresult fill(CUdeviceptr address, T value, std::size_t count, CUstream stream) {
  return queue(stream, [=] {
    if (!card().is_usable(address, count * sizeof(T), "a fill writes freed memory")) return;
    T* const begin = static_cast<T*>(host(address));
    for (std::size_t i = 0; i < count; ++i) begin[i] = value;
  });
}

std::shared_ptr<Event>& event_of(CUevent event) {
  return *reinterpret_cast<std::shared_ptr<Event>*>(event);
}

CUresult answer_now() {
  return static_cast<CUresult>(card().dead.load());
}

}  // namespace

FAKE cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = std::size_t{4} << 30;
  *free = *total - card().memory.used_bytes();
  return ask_context_of_this_thread();
}
FAKE cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  *address = reinterpret_cast<CUdeviceptr>(card().memory.take(bytes));
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
FAKE cuMemFree(CUdeviceptr address) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  if (card().memory.give(host(address))) return CUDA_SUCCESS;
  card().note_misuse("memory of the card is freed that is not taken");
  return CUDA_ERROR_INVALID_VALUE;
}
FAKE cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  *address = card().pinned.take(bytes);
  return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
FAKE cuMemFreeHost(void* address) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  if (card().pinned.give(address)) return CUDA_SUCCESS;
  card().note_misuse("page-locked memory is freed that is not taken");
  return CUDA_ERROR_INVALID_VALUE;
}
FAKE cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned) {
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return ask_context_of_this_thread();
}
FAKE cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** answers, CUdeviceptr address) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  if (count != 1 || which[0] != CU_POINTER_ATTRIBUTE_MEMORY_TYPE) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_pinned = card().pinned.holds(host(address), 1);
  *static_cast<CUmemorytype*>(answers[0]) = is_pinned ? CU_MEMORYTYPE_HOST : CUmemorytype{};
  return CUDA_SUCCESS;
}

FAKE cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return queue(stream, [=] {
    if (card().is_usable(to, bytes, "an upload writes freed memory")) std::memcpy(host(to), from, bytes);
  });
}
FAKE cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return queue(stream, [=] {
    if (card().is_usable(from, bytes, "a download reads freed memory")) std::memcpy(to, host(from), bytes);
  });
}
FAKE cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return queue(stream, [=] {
    if (card().is_usable(from, bytes, "a copy reads freed memory") &&
        card().is_usable(to, bytes, "a copy writes freed memory")) {
      std::memcpy(host(to), host(from), bytes);
    }
  });
}
FAKE cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count, CUstream stream) {
  return fill(address, value, count, stream);
}
FAKE cuMemsetD16Async(CUdeviceptr address, unsigned short value, std::size_t count, CUstream stream) {
  return fill(address, value, count, stream);
}
FAKE cuMemsetD32Async(CUdeviceptr address, unsigned value, std::size_t count, CUstream stream) {
  return fill(address, value, count, stream);
}

FAKE cuStreamCreate(CUstream* stream, unsigned) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  const auto made = std::make_shared<Stream>();
  made->start();
  const std::lock_guard lock(card().streams_mutex);
  card().streams.push_back(made);
  *stream = reinterpret_cast<CUstream>(made.get());
  return CUDA_SUCCESS;
}
FAKE cuStreamDestroy(CUstream stream) {
  const auto line = card().find(stream);
  if (line == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  // CUDA allows it, but this library promises to have waited.
  if (card().dead == 0 && !line->is_idle()) card().note_misuse("a stream is destroyed while it works");
  line->let_go();
  const std::lock_guard lock(card().streams_mutex);
  std::erase(card().streams, line);
  return CUDA_SUCCESS;
}
FAKE cuStreamSynchronize(CUstream stream) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  const auto line = card().find(stream);
  if (line == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  line->wait();
  return answer_now();
}
FAKE cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  const std::shared_ptr<Event> waited = event_of(event);
  return queue(stream, [waited, record = waited->recorded()] { waited->wait(record); });
}
FAKE cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  return queue(stream, [=] {
    if (!card().pinned.holds(host(address), sizeof(value)))
      return card().note_misuse("a mark is written to freed memory");
    std::atomic_ref(*static_cast<cuuint32_t*>(host(address))).store(value, std::memory_order_release);
  });
}
FAKE cuLaunchHostFunc(CUstream stream, CUhostFn function, void* argument) {
  return queue(stream, [=] {
    std::this_thread::sleep_for(std::chrono::microseconds(card().host_function_us.load()));
    function(argument);
  });
}

FAKE cuEventCreate(CUevent* event, unsigned) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  *event = reinterpret_cast<CUevent>(new std::shared_ptr<Event>(std::make_shared<Event>()));
  return CUDA_SUCCESS;
}
FAKE cuEventDestroy(CUevent event) {
  delete &event_of(event);
  return CUDA_SUCCESS;
}
FAKE cuEventRecord(CUevent event, CUstream stream) {
  const std::shared_ptr<Event> recorded = event_of(event);
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  return queue(stream, [recorded, record = recorded->record()] { recorded->reach(record); });
}
FAKE cuEventQuery(CUevent event) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  return event_of(event)->is_reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
FAKE cuEventSynchronize(CUevent event) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  const std::shared_ptr<Event> waited = event_of(event);
  waited->wait();
  return answer_now();
}
// cuda.h of 12.8 renames it; older drivers have it by its first name alone, and so has this one.
#undef cuEventElapsedTime
FAKE cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  if (const CUresult answer = ask_context_of_this_thread(); answer != CUDA_SUCCESS) return answer;
  if (!event_of(start)->is_reached() || !event_of(end)->is_reached()) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(event_of(end)->time() - event_of(start)->time()).count();
  return CUDA_SUCCESS;
}

}  // namespace tessera::fake
