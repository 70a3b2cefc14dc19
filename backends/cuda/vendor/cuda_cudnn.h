// cuDNN, opened at run time if it is there: the functions that this backend calls, the descriptors that they take, and
// the handle of a context.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "cuda_api.h"
#include "cuda_context.h"

namespace tessera::cuda {

/// Declared here and not taken from NVIDIA's headers, so that the build does not need them.
using CudnnHandlePointer = struct CudnnContext*;
using CudnnTensorPointer = struct CudnnTensorDescriptor*;
using CudnnFilterPointer = struct CudnnFilterDescriptor*;
using CudnnConvolutionPointer = struct CudnnConvolutionDescriptor*;
inline constexpr int kCudnnFloat = 0;             ///< CUDNN_DATA_FLOAT
inline constexpr int kCudnnRows = 0;              ///< CUDNN_TENSOR_NCHW: images, channels, rows, columns
inline constexpr int kCudnnCrossCorrelation = 1;  ///< CUDNN_CROSS_CORRELATION
inline constexpr int kCudnnFmaMath = 3;           ///< CUDNN_FMA_MATH: no tensor cores, so no TF32

/// cudnnConvolutionFwdAlgo_t, as far as it adds up the products as they are: the others (by FFT, by Winograd) trade
/// accuracy.
inline constexpr int kCudnnImplicitGemm = 0;
inline constexpr int kCudnnImplicitPrecompGemm = 1;
inline constexpr int kCudnnGemm = 2;

/// libcudnn.so.9. Either all functions are there, or `why` says what is missing.
struct CudnnApi {
  std::size_t (*get_version)() = nullptr;
  std::size_t (*get_cudart_version)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*create)(CudnnHandlePointer*) = nullptr;
  int (*destroy)(CudnnHandlePointer) = nullptr;
  int (*set_stream)(CudnnHandlePointer, CUstream) = nullptr;

  int (*create_tensor)(CudnnTensorPointer*) = nullptr;
  int (*destroy_tensor)(CudnnTensorPointer) = nullptr;
  int (*set_tensor)(CudnnTensorPointer, int layout, int type, int images, int channels, int rows,
                    int columns) = nullptr;
  int (*create_filter)(CudnnFilterPointer*) = nullptr;
  int (*destroy_filter)(CudnnFilterPointer) = nullptr;
  int (*set_filter)(CudnnFilterPointer, int type, int layout, int outputs, int inputs, int rows, int columns) = nullptr;
  int (*create_convolution)(CudnnConvolutionPointer*) = nullptr;
  int (*destroy_convolution)(CudnnConvolutionPointer) = nullptr;
  int (*set_convolution)(CudnnConvolutionPointer, int padding_rows, int padding_columns, int row_stride,
                         int column_stride, int row_dilation, int column_dilation, int mode, int type) = nullptr;
  int (*set_convolution_math)(CudnnConvolutionPointer, int math) = nullptr;

  int (*forward_workspace)(CudnnHandlePointer, CudnnTensorPointer image, CudnnFilterPointer, CudnnConvolutionPointer,
                           CudnnTensorPointer output, int algorithm, std::size_t* bytes) = nullptr;
  int (*forward)(CudnnHandlePointer, const void* alpha, CudnnTensorPointer, const void* image, CudnnFilterPointer,
                 const void* weights, CudnnConvolutionPointer, int algorithm, void* workspace,
                 std::size_t workspace_bytes, const void* beta, CudnnTensorPointer, void* output) = nullptr;

  std::string file;  ///< which one was opened
  std::string why;   ///< "" if usable, else a sentence
  [[nodiscard]] bool usable() const noexcept { return why.empty(); }

  /// Throws unless the status is 0.
  void check(int status, const char* doing) const;
};

/// Opened on the first call, the same table ever after. From any thread.
[[nodiscard]] const CudnnApi& cudnn_api();

/// Owns one descriptor. Only where cudnn_api() is usable.
template <class Pointer, int (*CudnnApi::*kCreate)(Pointer*), int (*CudnnApi::*kDestroy)(Pointer)>
class CudnnDescriptor {
 public:
  CudnnDescriptor() { cudnn_api().check((cudnn_api().*kCreate)(&pointer_), "making a descriptor"); }
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  ~CudnnDescriptor() { (cudnn_api().*kDestroy)(pointer_); }

  [[nodiscard]] Pointer get() const noexcept { return pointer_; }

 private:
  Pointer pointer_ = nullptr;
};
using CudnnTensor = CudnnDescriptor<CudnnTensorPointer, &CudnnApi::create_tensor, &CudnnApi::destroy_tensor>;
using CudnnFilter = CudnnDescriptor<CudnnFilterPointer, &CudnnApi::create_filter, &CudnnApi::destroy_filter>;
using CudnnConvolution =
    CudnnDescriptor<CudnnConvolutionPointer, &CudnnApi::create_convolution, &CudnnApi::destroy_convolution>;

/// A companion of a context (Context::companion). Used by one thread at a time: lock `mutex` around every call.
class CudnnHandle final : public Companion {
 public:
  explicit CudnnHandle(const Context& context);
  ~CudnnHandle() override;

  [[nodiscard]] CudnnHandlePointer get() const noexcept { return handle_; }
  std::mutex mutex;

 private:
  CudnnHandlePointer handle_ = nullptr;
};

}  // namespace tessera::cuda
