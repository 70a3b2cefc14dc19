// Retains and releases the primary context and keeps the pools that live in it.
#include "cuda_context.h"

#include <new>
#include <utility>

#include "cuda_error.h"

namespace tessera::cuda {
namespace {

std::uint64_t limit(CUdevice device, CUdevice_attribute which) {
  return static_cast<std::uint64_t>(attribute(device, which));
}

DeviceLimits limits_of(CUdevice device) {
  DeviceLimits limits;
  limits.groups = {limit(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), limit(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                   limit(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  limits.group_size = {limit(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                       limit(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                       limit(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  limits.group_volume = limit(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.shared_bytes = limit(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits.multiprocessor_shared_bytes = limit(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.warp_size = static_cast<std::uint32_t>(attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  limits.multiprocessors = static_cast<std::uint32_t>(attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  limits.compute_capability_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  limits.compute_capability_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return limits;
}

}  // namespace

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(driver_api().cuDeviceGetAttribute(&value, which, device), "asking for an attribute of the card");
  return value;
}

Context::Context(CUdevice device) : api_(driver_api()), device_(device), limits_(limits_of(device)) {
  check(api_.cuDevicePrimaryCtxRetain(&context_, device_), "opening the card's primary context");
}

Context::~Context() {
  CUcontext before = nullptr;
  api_.cuCtxGetCurrent(&before);
  if (!try_make_current()) {
    // Libraries that find another context current would take that for theirs, so what they hold is left alone.
    for (auto& [kind, kept] : companions_) {
      [[maybe_unused]] auto* const left = new (std::nothrow) std::shared_ptr<Companion>(std::move(kept));
    }
  }
  companions_.clear();
  destroy_idle_events();
  modules_.unload(api_);
  api_.cuDevicePrimaryCtxRelease(device_);
  // The last release destroys the context, and a destroyed one must not stay this thread's current one. Where the
  // application holds it too, it stays as it was.
  unsigned flags = 0;
  int active = 0;
  api_.cuDevicePrimaryCtxGetState(device_, &flags, &active);
  if (before == context_ && active == 0) before = nullptr;
  if (before != context_) api_.cuCtxSetCurrent(before);
}

CUresult Context::set_current() const noexcept {
  CUcontext current = nullptr;
  if (api_.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context_) [[likely]] {
    return CUDA_SUCCESS;
  }
  return api_.cuCtxSetCurrent(context_);
}

bool Context::try_make_current() const noexcept {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    if (set_current() == CUDA_SUCCESS) return true;
  }
  return false;
}

void Context::make_current() const {
  check(set_current(), "making the card's context current");
}

CUfunction Context::function(const Image& image, const char* kernel) {
  make_current();
  return modules_.function(api_, image, kernel);
}

CUevent Context::take_event() {
  {
    const std::lock_guard lock(events_mutex_);
    if (!idle_events_.empty()) {
      const CUevent event = idle_events_.back();
      idle_events_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  check(api_.cuEventCreate(&event, CU_EVENT_DEFAULT), "creating an event");
  return event;
}

void Context::give_event(CUevent event) noexcept {
  // The event may be used again while a queue still waits for it, because cuStreamWaitEvent() waits for what the event
  // stood for when it was called.
  try {
    const std::lock_guard lock(events_mutex_);
    idle_events_.push_back(event);
  } catch (const std::exception&) {
    api_.cuEventDestroy(event);
  }
}

void Context::destroy_idle_events() noexcept {
  std::vector<CUevent> events;
  {
    const std::lock_guard lock(events_mutex_);
    events.swap(idle_events_);
  }
  // Events that are still pending may be destroyed too: the driver frees them when their streams are past them.
  for (CUevent event : events) api_.cuEventDestroy(event);
}

std::uint64_t Context::free_bytes() const noexcept {
  std::size_t free = 0;
  std::size_t total = 0;
  return api_.cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? free : 0;
}

void Context::note_held(Companion& companion, std::uint64_t free_before) const noexcept {
  const std::uint64_t free = free_bytes();
  companion.held_bytes_ = free > 0 && free_before > free ? free_before - free : 0;
}

std::uint64_t Context::held_bytes() noexcept {
  const std::lock_guard lock(companions_mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [kind, kept] : companions_) bytes += kept != nullptr ? kept->held_bytes_ : 0;
  return bytes;
}

std::uint64_t Context::trim() noexcept {
  if (!try_make_current()) return 0;
  destroy_idle_events();
  {
    std::unique_ptr<UnfinishedWork> ended;  // destroyed after the lock is released: its parts call this context again
    const std::lock_guard lock(unfinished_mutex_);
    for (std::unique_ptr<UnfinishedWork>* place = &unfinished_; *place != nullptr;) {
      if ((*place)->is_over()) {
        std::unique_ptr<UnfinishedWork> over = std::exchange(*place, std::move((*place)->next_));
        over->next_ = std::move(ended);
        ended = std::move(over);
      } else {
        place = &(*place)->next_;
      }
    }
  }
  const std::lock_guard lock(companions_mutex_);
  std::uint64_t bytes = 0;
  for (auto& [kind, kept] : companions_) {
    // A companion gets holders only in companion(), which takes the same lock. One without holders is used by no run: a
    // kernel holds its companion, and lives until its runs are done.
    if (kept == nullptr || kept.use_count() > 1) continue;
    bytes += kept->held_bytes_;
    kept.reset();
  }
  return bytes;
}

void Context::park(std::unique_ptr<UnfinishedWork> work) noexcept {
  const std::lock_guard lock(unfinished_mutex_);
  work->next_ = std::move(unfinished_);
  unfinished_ = std::move(work);
}

}  // namespace tessera::cuda
