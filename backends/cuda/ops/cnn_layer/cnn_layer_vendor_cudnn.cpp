// The variant "vendor_cudnn": cuDNN's convolution, if it is there, and our own kernel for bias, ReLU and pool. A
// yardstick for our own variants: it stands behind the faster ones in the list, so that it is not taken unless asked
// for.
//
//   input -- cuDNN --> plain sums: in the workspace, or, without a pool, where the output will be -- finish --> output
//
// Bias, ReLU and pool are our own because cuDNN leaves open what its ReLU makes of a NaN. Our one kernel for all three
// is no slower than cuDNN's.
#include <memory>
#include <utility>

#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "vendor/cuda_cudnn_forward.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

CudnnShape shape_of(const CnnLayer& problem) {
  return {.images = problem.batch,
          .inputs = problem.input_channels,
          .outputs = problem.output_channels,
          .rows = problem.height,
          .columns = problem.width,
          .filter_rows = problem.filter_height,
          .filter_columns = problem.filter_width,
          .padding_rows = problem.padding,
          .padding_columns = problem.padding,
          .stride = problem.stride,
          .output_rows = problem.convolved_height(),
          .output_columns = problem.convolved_width()};
}

class CnnLayerVendorCudnn final : public backend::Kernel {
 public:
  CnnLayerVendorCudnn(CudaDevice& device, const CnnLayer& problem, const Tuning& tuning)
      : problem_(problem), forward_(device, shape_of(problem), tuning), finish_(device.context(), problem) {
    if (has_pool()) {
      convolved_at_ = workspace_.take(static_cast<std::size_t>(problem.batch * problem.output_channels *
                                                               problem.convolved_height() * problem.convolved_width()) *
                                      sizeof(float));
    }
    scratch_at_ = workspace_.take(forward_.workspace_bytes());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.size_bytes(); }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    auto* const output = pointer_to<float>(operands[3]);
    float* const convolved = has_pool() ? pointer_at<float>(workspace, convolved_at_) : output;
    forward_.enqueue(queue, pointer_to<const float>(operands[0]), pointer_to<const float>(operands[1]), convolved,
                     pointer_at<void>(workspace, scratch_at_));
    if (has_pool() || problem_.bias || problem_.relu) {
      finish_.enqueue(queue, convolved, 1, pointer_to<const float>(operands[2]), output, problem_.batch);
    }
  }

 private:
  [[nodiscard]] bool has_pool() const { return problem_.pool_size > 1; }

  CnnLayer problem_;
  CudnnForward forward_;
  CnnLayerFinish<float> finish_;
  CnnLayerWorkspace workspace_;
  std::size_t convolved_at_ = 0;
  std::size_t scratch_at_ = 0;
};

Verdict check(const CnnLayer& problem, const backend::Device& device) {
  if (problem.type != DataType::float32) {
    return Verdict::no(
        sentence("the type of cnn_layer is ", to_string(problem.type), ", but cuDNN is asked for float32 alone"));
  }
  if (problem.layout != Layout::nchw) {
    return Verdict::no(
        sentence("the layout of cnn_layer is ", to_string(problem.layout), ", but cuDNN is asked for nchw alone"));
  }
  if (Verdict grid = check_output_grid(problem, device); !grid) return grid;
  return check_cudnn_forward(CnnLayer::kName, shape_of(problem));
}

std::vector<Tunable> tunables(const CnnLayer& problem, const backend::Device&) {
  return cudnn_forward_tunables(shape_of(problem));
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& tuning) {
  if (problem.batch == 0) return std::make_unique<NothingForCudnn>();
  return std::make_unique<CnnLayerVendorCudnn>(native(device), problem, tuning);
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_vendor_cudnn() {
  return {
      .name = "vendor_cudnn",
      .summary = "cuDNN's convolution in float32 without tensor cores, opened at run time if it is there",
      .check = check,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
