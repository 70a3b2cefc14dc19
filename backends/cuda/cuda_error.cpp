// The one place that knows what CUresult, nvrtcResult and cuBLAS's status mean for a program.
#include "cuda_error.h"

#include <utility>

#include "backend/sentence.h"

namespace tessera::cuda {
namespace {

// Newer than the oldest cuda.h that this backend is built with.
constexpr int kContained = 226;
constexpr int kTensorMemoryLeak = 721;

ErrorCode code_of(CUresult result) noexcept {
  switch (static_cast<int>(result)) {
    case CUDA_ERROR_OUT_OF_MEMORY: return ErrorCode::out_of_memory;

    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED: return ErrorCode::unavailable;

    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_UNSUPPORTED_LIMIT:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_NOT_SUPPORTED: return ErrorCode::unsupported;

    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE: return ErrorCode::build_failed;

    // Those of the driver's "sticky" errors that a kernel or the hardware causes: the context is dead afterwards.
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case kContained:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case kTensorMemoryLeak:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN: return ErrorCode::device_lost;

    default: return ErrorCode::internal;
  }
}

std::string name_of(CUresult result) {
  const char* name = nullptr;
  const DriverApi& api = driver_api();
  if (api.cuGetErrorName != nullptr) api.cuGetErrorName(result, &name);
  return name != nullptr ? name : backend::sentence("CUresult ", static_cast<int>(result));
}

std::string words_of(CUresult result) {
  const char* words = nullptr;
  const DriverApi& api = driver_api();
  if (api.cuGetErrorString != nullptr) api.cuGetErrorString(result, &words);
  return words != nullptr ? words : "an error that this driver has no words for";
}

}  // namespace

bool means_lost(CUresult result) noexcept {
  return code_of(result) == ErrorCode::device_lost;
}

std::string text_of(CUresult result) {
  return backend::sentence(name_of(result), " (", words_of(result), ")");
}

Error cuda_error(CUresult result, std::string_view doing) {
  const ErrorCode code = code_of(result);
  const char* const after =
      code == ErrorCode::device_lost
          ? "; a command of any queue of this card may have caused it, and this process cannot use the card again"
          : "";
  return Error(code, backend::sentence(doing, " fails: ", words_of(result), after),
               {static_cast<std::int64_t>(result), name_of(result)});
}

Error cublas_error(int status, std::string_view words, std::string_view doing) {
  ErrorCode code = ErrorCode::internal;
  switch (status) {
    case 1: code = ErrorCode::unavailable; break;    // CUBLAS_STATUS_NOT_INITIALIZED
    case 3: code = ErrorCode::out_of_memory; break;  // CUBLAS_STATUS_ALLOC_FAILED
    case 8:                                          // CUBLAS_STATUS_ARCH_MISMATCH
    case 15: code = ErrorCode::unsupported; break;   // CUBLAS_STATUS_NOT_SUPPORTED
    case 11:                                         // CUBLAS_STATUS_MAPPING_ERROR
    case 13: code = ErrorCode::device_lost; break;   // CUBLAS_STATUS_EXECUTION_FAILED
    default: break;
  }
  return Error(code, backend::sentence(doing, " fails in cuBLAS: ", words), {status, std::string(words)});
}

Error cudnn_error(int status, std::string_view words, std::string_view doing) {
  ErrorCode code = ErrorCode::internal;
  switch (status) {
    case 1001:                                        // CUDNN_STATUS_NOT_INITIALIZED
    case 1002:                                        // CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH
    case 1008: code = ErrorCode::unavailable; break;  // CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED
    case 4003:                                        // CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED
    case 4004: code = ErrorCode::out_of_memory; break;
    default:
      // Kinds of failure have a thousand each; these are CUDNN_STATUS_NOT_SUPPORTED and CUDNN_STATUS_EXECUTION_FAILED.
      if (status / 1000 == 3) code = ErrorCode::unsupported;
      if (status / 1000 == 5) code = ErrorCode::device_lost;
      break;
  }
  return Error(code, backend::sentence(doing, " fails in cuDNN: ", words), {status, std::string(words)});
}

Error nvrtc_error(nvrtcResult result, std::string_view doing, std::string log) {
  ErrorCode code = ErrorCode::internal;
  switch (result) {
    case NVRTC_ERROR_OUT_OF_MEMORY: code = ErrorCode::out_of_memory; break;
    case NVRTC_ERROR_COMPILATION:
    case NVRTC_ERROR_INVALID_OPTION:
    case NVRTC_ERROR_INVALID_INPUT: code = ErrorCode::build_failed; break;
    default: break;
  }
  const NvrtcApi& api = nvrtc_api();
  const std::string words = api.nvrtcGetErrorString != nullptr ? api.nvrtcGetErrorString(result) : "NVRTC error";
  const char* const how =
      code == ErrorCode::build_failed ? " fails: NVRTC refuses the source or the options" : " fails in NVRTC";
  return Error(code, backend::sentence(doing, how), {static_cast<std::int64_t>(result), words}, std::move(log));
}

}  // namespace tessera::cuda
