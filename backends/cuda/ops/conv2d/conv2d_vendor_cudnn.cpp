// The variant "vendor_cudnn": one call of cuDNN for float images, if it is there. A yardstick for our own variants: it
// stands behind the faster ones in the list, so that it is not taken unless asked for.
//
// To cuDNN an image has one channel and the filter one output; images of a batch are its N.
#include <memory>
#include <utility>

#include "backend/sentence.h"
#include "cuda_table.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"
#include "vendor/cuda_cudnn_forward.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

CudnnShape shape_of(const Conv2d& problem) {
  const bool pads = problem.border == Border::same;
  return {.images = problem.batch,
          .rows = problem.height,
          .columns = problem.width,
          .filter_rows = problem.filter_height,
          .filter_columns = problem.filter_width,
          .padding_rows = pads ? problem.filter_height / 2 : 0,
          .padding_columns = pads ? problem.filter_width / 2 : 0,
          .output_rows = problem.output_height(),
          .output_columns = problem.output_width()};
}

class Conv2dVendorCudnn final : public backend::Kernel {
 public:
  Conv2dVendorCudnn(CudaDevice& device, const Conv2d& problem, const Tuning& tuning)
      : forward_(device, shape_of(problem), tuning), weights_(device, conv2d_weights<float>(problem)) {}

  [[nodiscard]] std::size_t workspace_bytes() const override { return forward_.workspace_bytes(); }
  [[nodiscard]] std::size_t held_bytes() const override { return weights_.size_bytes(); }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    forward_.enqueue(queue, pointer_to<const float>(operands[0]), weights_.begin<float>(),
                     pointer_to<float>(operands[1]), pointer_to<void>(workspace));
  }

 private:
  CudnnForward forward_;
  CudaTable weights_;
};

/// Zeros are padded alike on both sides, so the anchor of border same must be the centre of an odd filter.
Verdict check_anchor(const Conv2d& problem) {
  const auto is_centre = [](std::int64_t anchor, std::int64_t size) { return 2 * anchor + 1 == size; };
  if (problem.border == Border::valid ||
      (is_centre(problem.anchor_y, problem.filter_height) && is_centre(problem.anchor_x, problem.filter_width))) {
    return Verdict::yes();
  }
  return Verdict::no(sentence("the anchor of conv2d is (", problem.anchor_y, ", ", problem.anchor_x,
                              ") of a filter of ", problem.filter_height, " x ", problem.filter_width,
                              ", but cuDNN pads alike on both sides, so it must be the centre"));
}

Verdict check(const Conv2d& problem, const backend::Device&) {
  if (problem.type != DataType::float32) {
    return Verdict::no(
        sentence("the type of conv2d is ", to_string(problem.type), ", but cuDNN is asked for float32 alone"));
  }
  if (Verdict anchor = check_anchor(problem); !anchor) return anchor;
  return check_cudnn_forward(Conv2d::kName, shape_of(problem));
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device&) {
  return cudnn_forward_tunables(shape_of(problem));
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  if (is_empty(problem)) return std::make_unique<NothingForCudnn>();
  return std::make_unique<Conv2dVendorCudnn>(native(device), problem, tuning);
}

}  // namespace

backend::Variant<Conv2d> conv2d_vendor_cudnn() {
  return {
      .name = "vendor_cudnn",
      .summary = "cuDNN in float32 without tensor cores, opened at run time if it is there",
      .check = check,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
