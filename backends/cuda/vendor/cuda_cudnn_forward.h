// A convolution of cuDNN, bound to its shape: what cuDNN is told of it, and which of its algorithms is taken. The
// operators' variants vendor_cudnn are made of it.
//
// Without tensor cores, so that products are those of float32, and only by algorithms that add up the products
// themselves: FFT and Winograd would need a wider bound.
//
// Which of these is a tunable with a fixed preference. Timing them while a kernel is made would be simplest, and give
// two kernels of one problem different bits whenever the clock wavered, because they add up in different orders. The
// heuristics of cuDNN do not waver, but err: on an H200 they put an algorithm of 1190 us before one of 150, for one
// channel of 4096 x 4096 and a 3 x 3 filter. The preference is what was fastest there: of one channel number 2, with
// 148 us against 1180 of the other two; of more channels mostly number 1, with 5.4 ms against 7.4 and 5.5 for the layer
// of the study.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "cuda_device.h"
#include "vendor/cuda_cudnn.h"

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

/// What CudnnForward takes as its tuning.
[[nodiscard]] std::vector<Tunable> cudnn_forward_tunables(const CudnnShape& shape);

/// Only where check_cudnn_forward() says yes, and nothing is empty.
class CudnnForward {
 public:
  CudnnForward(CudaDevice& device, const CudnnShape& shape, const Tuning& tuning);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// `workspace` is not read where workspace_bytes() is 0.
  void enqueue(backend::Queue& queue, const float* image, const float* weights, float* output, void* workspace) const;

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<CudnnHandle> handle_;
  CudnnTensor image_;
  CudnnTensor output_;
  CudnnFilter filter_;
  CudnnConvolution convolution_;
  int algorithm_;
  std::size_t workspace_bytes_ = 0;
};

/// What runs where there is nothing to compute: cuDNN describes no empty image.
class NothingForCudnn final : public backend::Kernel {
 public:
  void launch(backend::Queue&, std::span<const backend::Slice>, const backend::Slice&) override {}
};

}  // namespace tessera::cuda
