// A convolution of cuDNN, bound to its shape: what cuDNN is told of it, and the fastest algorithm that keeps to this
// library's rules. The operators' variants vendor_cudnn are made of it.
//
// Without tensor cores, so that products are those of float32, and only by algorithms that add up the products
// themselves: FFT and Winograd would need a wider bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "backend/backend.h"
#include "cuda_cudnn.h"
#include "cuda_device.h"

namespace tessera::cuda {

/// Planes of float32: images x inputs x rows x columns to images x outputs x output_rows x output_columns.
struct CudnnShape {
  std::int64_t images = 1;
  std::int64_t inputs = 1;   ///< channels
  std::int64_t outputs = 1;  ///< channels
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t filter_rows = 0;
  std::int64_t filter_columns = 0;
  std::int64_t padding_rows = 0;  ///< on either side
  std::int64_t padding_columns = 0;
  std::int64_t stride = 1;
  std::int64_t output_rows = 0;
  std::int64_t output_columns = 0;
};

/// Is cuDNN there, and can it count so far? Opens it only if the shape is one for it. `name` is the operator's.
[[nodiscard]] backend::Verdict check_cudnn_forward(std::string_view name, const CudnnShape& shape);

/// Only where check_cudnn_forward() says yes, and nothing is empty.
class CudnnForward {
 public:
  /// Runs every algorithm in question on memory of its own and keeps the fastest.
  CudnnForward(CudaDevice& device, const CudnnShape& shape);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return choice_.workspace_bytes; }
  /// `workspace` is not read where workspace_bytes() is 0.
  void enqueue(backend::Queue& queue, const float* image, const float* weights, float* output, void* workspace) const;

 private:
  struct Choice {
    int algorithm = kCudnnImplicitGemm;
    std::size_t workspace_bytes = 0;
  };
  [[nodiscard]] std::vector<Choice> candidates() const;
  [[nodiscard]] Choice fastest(CudaDevice& device, const CudnnShape& shape) const;
  void run(backend::Queue& queue, const Choice& choice, const float* image, const float* weights, float* output,
           void* workspace) const;

  std::shared_ptr<Context> context_;  // the handle lives as long as its context
  CudnnHandle& handle_;
  CudnnTensor image_;
  CudnnTensor output_;
  CudnnFilter filter_;
  CudnnConvolution convolution_;
  Choice choice_;
};

/// What runs where there is nothing to compute: cuDNN describes no empty image.
class NothingForCudnn final : public backend::Kernel {
 public:
  void launch(backend::Queue&, std::span<const backend::Slice>, const backend::Slice&) override {}
};

}  // namespace tessera::cuda
