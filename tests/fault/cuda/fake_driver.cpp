// libcuda.so.1 without a card: what it says of itself, contexts, modules and launches. cuda.h gives the names their
// versions, as it does for the backend.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fault/cuda/fake_card.h"

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

namespace tessera::fake {
namespace {

thread_local CUcontext current = nullptr;

CUcontext the_context() {
  return reinterpret_cast<CUcontext>(&card());
}

/// What a call that needs the context answers before it does anything.
CUresult ask_context() {
  if (card().dead != 0) return static_cast<CUresult>(card().dead.load());
  return current == the_context() && card().retained > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/// Of one group, as cards of the compute capability have it; a multiprocessor has 1 KiB more, and on 7.5 as much.
int shared_bytes_of_group() {
  switch (10 * card().major + card().minor) {
    case 75: return 65536;
    case 80: return 166912;
    case 86:
    case 89: return 101376;
    default: return 232448;
  }
}

int fact(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return card().major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return card().minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return shared_bytes_of_group();
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return shared_bytes_of_group() + (card().major == 7 ? 0 : 1024);
    default: return 0;
  }
}

CUresult launch(CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared_bytes,
                CUstream stream, void** parameters) {
  if (const CUresult answer = ask_context(); answer != CUDA_SUCCESS) return answer;
  const auto within = [](unsigned value, CUdevice_attribute limit) {
    return value > 0 && value <= static_cast<unsigned>(fact(limit));
  };
  if (!within(grid[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) || !within(grid[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) ||
      !within(grid[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
      !within(block[0] * block[1] * block[2], CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) ||
      shared_bytes > static_cast<unsigned>(fact(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))) {
    card().note_misuse("a launch is larger than the card allows");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto queue = card().find(stream);
  if (queue == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  queue->push([work = work_of(*reinterpret_cast<Function*>(function), parameters)] {
    std::this_thread::sleep_for(std::chrono::microseconds(card().kernel_us.load()));
    if (card().dead == 0) work();
  });
  return CUDA_SUCCESS;
}

}  // namespace

CUresult ask_context_of_this_thread() {
  return ask_context();
}

FAKE cuInit(unsigned) {
  return CUDA_SUCCESS;
}
FAKE cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
FAKE cuGetErrorName(CUresult result, const char** name) {
  static thread_local char text[32];
  std::snprintf(text, sizeof(text), "FAKE_ERROR_%d", static_cast<int>(result));
  *name = text;
  return CUDA_SUCCESS;
}
FAKE cuGetErrorString(CUresult, const char** words) {
  *words = "the fake driver was told to say so";
  return CUDA_SUCCESS;
}
FAKE cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
FAKE cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "fake card");
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  std::memset(uuid, 7, sizeof(*uuid));
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetPCIBusId(char* address, int size, CUdevice) {
  std::snprintf(address, static_cast<std::size_t>(size), "0000:01:00.0");
  return CUDA_SUCCESS;
}
FAKE cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{4} << 30;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = fact(which);
  return CUDA_SUCCESS;
}

// NVRTC calls this function where it finds a libcuda, and does without the tables if it fails.
FAKE cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

FAKE cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  if (card().dead != 0) return static_cast<CUresult>(card().dead.load());
  ++card().retained;
  *context = the_context();
  return CUDA_SUCCESS;
}
FAKE cuDevicePrimaryCtxRelease(CUdevice) {
  if (--card().retained < 0) card().note_misuse("a context is released more often than retained");
  return CUDA_SUCCESS;
}
FAKE cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = card().retained > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
FAKE cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
FAKE cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
FAKE cuCtxSynchronize() {
  if (const CUresult answer = ask_context(); answer != CUDA_SUCCESS) return answer;
  std::vector<std::shared_ptr<Stream>> streams;
  {
    const std::lock_guard lock(card().streams_mutex);
    streams = card().streams;
  }
  for (const auto& stream : streams) stream->wait();
  return ask_context();
}

FAKE cuModuleLoadData(CUmodule* module, const void*) {
  if (const CUresult answer = ask_context(); answer != CUDA_SUCCESS) return answer;
  *module = reinterpret_cast<CUmodule>(new Module);
  return CUDA_SUCCESS;
}
FAKE cuModuleUnload(CUmodule module) {
  if (const CUresult answer = ask_context(); answer != CUDA_SUCCESS) return answer;
  delete reinterpret_cast<Module*>(module);
  return CUDA_SUCCESS;
}
FAKE cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (const CUresult answer = ask_context(); answer != CUDA_SUCCESS) return answer;
  auto& loaded = *reinterpret_cast<Module*>(module);
  const std::lock_guard lock(loaded.mutex);
  // A function is one, however often it is asked for.
  auto found = std::find_if(loaded.functions.begin(), loaded.functions.end(),
                            [&](const auto& known) { return known->name == name; });
  if (found == loaded.functions.end())
    found = loaded.functions.insert(found, std::make_unique<Function>(Function{name}));
  *function = reinterpret_cast<CUfunction>(found->get());
  return CUDA_SUCCESS;
}
FAKE cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction) {
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 0;
  return ask_context();
}
FAKE cuOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, CUfunction, int group_size, size_t) {
  *groups = std::min(2048, 65536 / 40) / group_size;
  return ask_context();
}
FAKE cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return ask_context();
}
FAKE cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                    unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                    void**) {
  return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters);
}
FAKE cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
  if (config->numAttrs > 0 && card().major < 9) {
    card().note_misuse("a launch asks for clusters, or to begin early, of a card before 9.0");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream,
                parameters);
}

}  // namespace tessera::fake
