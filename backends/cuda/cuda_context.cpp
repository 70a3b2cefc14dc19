// Retains and releases the primary context and keeps the pools that live in it.
#include "cuda_context.h"

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
  if (try_make_current()) {
    companions_.clear();
    for (CUevent event : idle_events_) api_.cuEventDestroy(event);
    modules_.unload(api_);
  }
  api_.cuDevicePrimaryCtxRelease(device_);
  // The last release destroys the context, and a destroyed one must not stay this thread's current one. Where the
  // application holds it too, it stays as it was.
  unsigned flags = 0;
  int active = 0;
  api_.cuDevicePrimaryCtxGetState(device_, &flags, &active);
  if (before == context_ && active == 0) before = nullptr;
  if (before != context_) api_.cuCtxSetCurrent(before);
}

bool Context::try_make_current() const noexcept {
  CUcontext current = nullptr;
  if (api_.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context_) [[likely]] {
    return true;
  }
  return api_.cuCtxSetCurrent(context_) == CUDA_SUCCESS;
}

void Context::make_current() const {
  CUcontext current = nullptr;
  if (api_.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context_) [[likely]] {
    return;
  }
  check(api_.cuCtxSetCurrent(context_), "making the card's context current");
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
  // Reuse is safe while a queue still waits for it: cuStreamWaitEvent() keeps the state of the moment of its call.
  try {
    const std::lock_guard lock(events_mutex_);
    idle_events_.push_back(event);
  } catch (const std::exception&) {
    api_.cuEventDestroy(event);
  }
}

}  // namespace tessera::cuda
