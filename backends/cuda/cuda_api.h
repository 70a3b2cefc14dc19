// The functions of NVIDIA's driver and of NVRTC that this backend calls, as tables of pointers filled from libraries
// that are opened at run time. Nothing of CUDA is linked, so that the plug-in also loads on machines without a card.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <string_view>
#include <vector>

namespace tessera::cuda {

// One line a function, under the name that NVIDIA documents. cuda.h maps some of these names to versioned ones
// (cuMemAlloc to cuMemAlloc_v2); the preprocessor does so here as well, for the member, its type and the symbol looked
// up, so the three cannot disagree.
#define TESSERA_CUDA_DRIVER_FUNCTIONS(FUNCTION) \
  FUNCTION(cuInit)                              \
  FUNCTION(cuDriverGetVersion)                  \
  FUNCTION(cuGetErrorName)                      \
  FUNCTION(cuGetErrorString)                    \
  FUNCTION(cuDeviceGet)                         \
  FUNCTION(cuDeviceGetCount)                    \
  FUNCTION(cuDeviceGetName)                     \
  FUNCTION(cuDeviceGetUuid)                     \
  FUNCTION(cuDeviceGetPCIBusId)                 \
  FUNCTION(cuDeviceTotalMem)                    \
  FUNCTION(cuDeviceGetAttribute)                \
  FUNCTION(cuDevicePrimaryCtxRetain)            \
  FUNCTION(cuDevicePrimaryCtxRelease)           \
  FUNCTION(cuDevicePrimaryCtxGetState)          \
  FUNCTION(cuCtxGetCurrent)                     \
  FUNCTION(cuCtxSetCurrent)                     \
  FUNCTION(cuMemGetInfo)                        \
  FUNCTION(cuMemAlloc)                          \
  FUNCTION(cuMemFree)                           \
  FUNCTION(cuMemHostAlloc)                      \
  FUNCTION(cuMemFreeHost)                       \
  FUNCTION(cuMemHostGetDevicePointer)           \
  FUNCTION(cuMemcpyHtoDAsync)                   \
  FUNCTION(cuMemcpyDtoHAsync)                   \
  FUNCTION(cuMemcpyDtoDAsync)                   \
  FUNCTION(cuMemsetD8Async)                     \
  FUNCTION(cuMemsetD16Async)                    \
  FUNCTION(cuMemsetD32Async)                    \
  FUNCTION(cuStreamCreate)                      \
  FUNCTION(cuStreamDestroy)                     \
  FUNCTION(cuStreamSynchronize)                 \
  FUNCTION(cuStreamWaitEvent)                   \
  FUNCTION(cuEventCreate)                       \
  FUNCTION(cuEventDestroy)                      \
  FUNCTION(cuEventRecord)                       \
  FUNCTION(cuEventQuery)                        \
  FUNCTION(cuEventSynchronize)                  \
  FUNCTION(cuModuleLoadData)                    \
  FUNCTION(cuModuleUnload)                      \
  FUNCTION(cuModuleGetFunction)                 \
  FUNCTION(cuFuncGetAttribute)                  \
  FUNCTION(cuFuncSetAttribute)                  \
  FUNCTION(cuLaunchKernel)                      \
  FUNCTION(cuLaunchKernelEx)                    \
  FUNCTION(cuLaunchHostFunc)                    \
  FUNCTION(cuPointerGetAttributes)

#define TESSERA_CUDA_NVRTC_FUNCTIONS(FUNCTION) \
  FUNCTION(nvrtcGetErrorString)                \
  FUNCTION(nvrtcVersion)                       \
  FUNCTION(nvrtcGetNumSupportedArchs)          \
  FUNCTION(nvrtcGetSupportedArchs)             \
  FUNCTION(nvrtcCreateProgram)                 \
  FUNCTION(nvrtcDestroyProgram)                \
  FUNCTION(nvrtcCompileProgram)                \
  FUNCTION(nvrtcGetProgramLogSize)             \
  FUNCTION(nvrtcGetProgramLog)                 \
  FUNCTION(nvrtcGetCUBINSize)                  \
  FUNCTION(nvrtcGetCUBIN)                      \
  FUNCTION(nvrtcGetPTXSize)                    \
  FUNCTION(nvrtcGetPTX)

#define TESSERA_CUDA_MEMBER(name) decltype(&::name) name = nullptr;

/// libcuda.so.1. Either all required functions are there, or `why` says what is missing.
struct DriverApi {
  TESSERA_CUDA_DRIVER_FUNCTIONS(TESSERA_CUDA_MEMBER)
  // cuda.h of 12.8 renamed it to a _v2 that older drivers lack; the first version has the same signature.
  TESSERA_CUDA_MEMBER(cuEventElapsedTime)
  // Null where the driver is older than the function; whoever calls these asks first.
  TESSERA_CUDA_MEMBER(cuStreamWriteValue32)
  TESSERA_CUDA_MEMBER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
  CUresult (*cuFuncGetParamInfo)(CUfunction, size_t, size_t*, size_t*) = nullptr;  ///< since 12.4, in cuda.h too
  CUresult (*cuFuncGetName)(const char**, CUfunction) = nullptr;                   ///< since 12.3

  std::string file;  ///< which one was opened
  std::string why;   ///< "" if usable, else a sentence
  [[nodiscard]] bool usable() const noexcept { return why.empty(); }
};

/// Defined in test builds alone, where it puts functions of its own before the driver's (tests/fault/cuda). Called
/// once, when the table is filled.
__attribute__((weak, visibility("hidden"))) void wrap_driver(DriverApi& api);

/// libnvrtc.so, likewise.
struct NvrtcApi {
  TESSERA_CUDA_NVRTC_FUNCTIONS(TESSERA_CUDA_MEMBER)

  std::string file;
  std::string why;
  int major = 0;
  int minor = 0;
  [[nodiscard]] bool usable() const noexcept { return why.empty(); }
};

#undef TESSERA_CUDA_MEMBER

/// The names under which a library of NVIDIA's is looked for, in order: for "nvrtc" libnvrtc.so.13 and .12 in
/// $CUDA_PATH/lib64, beside this plug-in, wherever the loader looks, and in /usr/local/cuda/lib64. `versions` are those
/// that the functions here were taken from, best first; if none are named, those of the toolkit itself.
[[nodiscard]] std::vector<std::string> toolkit_library_names(std::string_view stem, std::vector<int> versions = {});

/// Opened on the first call, the same table ever after. From any thread.
[[nodiscard]] const DriverApi& driver_api();
[[nodiscard]] const NvrtcApi& nvrtc_api();

}  // namespace tessera::cuda
