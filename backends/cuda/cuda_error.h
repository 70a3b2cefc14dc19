// Turns the results of the driver, NVRTC, cuBLAS and cuDNN into tessera::Error. No other file of this backend decides
// which code is which kind of failure.
#pragma once

#include <string>
#include <string_view>

#include <tessera/error.h>

#include "cuda_api.h"

namespace tessera::cuda {

/// The error for a result that is not CUDA_SUCCESS. `doing` says what failed: "copying 64 bytes to the device".
[[nodiscard]] Error cuda_error(CUresult result, std::string_view doing);

/// Does the result say that the context is dead, so that nothing of it runs any more?
[[nodiscard]] bool means_lost(CUresult result) noexcept;

/// The driver's name of a result and its words: "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
[[nodiscard]] std::string text_of(CUresult result);

/// Throws cuda_error() unless the call went well. Inline because it stands behind every launch.
inline void check(CUresult result, std::string_view doing) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    throw cuda_error(result, doing);
  }
}

/// The error for a status of cuBLAS that is not 0. `words` are the library's own for it.
[[nodiscard]] Error cublas_error(int status, std::string_view words, std::string_view doing);

/// The same for cuDNN of version 9.
[[nodiscard]] Error cudnn_error(int status, std::string_view words, std::string_view doing);

/// The error for a failed call of NVRTC, with its log.
[[nodiscard]] Error nvrtc_error(nvrtcResult result, std::string_view doing, std::string log = {});

}  // namespace tessera::cuda
