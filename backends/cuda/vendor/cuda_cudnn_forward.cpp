// Describes a convolution to cuDNN.
#include "vendor/cuda_cudnn_forward.h"

#include <array>
#include <mutex>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_queue.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// Elements of one operand: cuDNN counts them in 32 bits.
constexpr double kMostElements = 2147483647;
/// Images and channels of one call: more would not fit an axis of a grid.
constexpr std::int64_t kMostPlanes = 65535;

Verdict check_elements(std::string_view name, const char* operand, std::array<std::int64_t, 4> sizes) {
  double elements = 1;
  for (const std::int64_t size : sizes) elements *= static_cast<double>(size);
  if (elements <= kMostElements) return Verdict::yes();
  return Verdict::no(sentence("the ", operand, " of ", name, " has ", sizes[0], " x ", sizes[1], " x ", sizes[2], " x ",
                              sizes[3], " elements, but cuDNN counts them in 32 bits"));
}

Verdict check_planes(std::string_view name, const char* what, std::int64_t count) {
  if (count <= kMostPlanes) return Verdict::yes();
  return Verdict::no(sentence(what, " of ", name, " is ", count, ", but cuDNN is given ", kMostPlanes, " at most"));
}

}  // namespace

Verdict check_cudnn_forward(std::string_view name, const CudnnShape& shape) {
  for (const Verdict& verdict :
       {check_elements(name, "padded input",
                       {shape.images, shape.inputs, shape.rows + 2 * shape.padding_rows,
                        shape.columns + 2 * shape.padding_columns}),
        check_elements(name, "filter", {shape.outputs, shape.inputs, shape.filter_rows, shape.filter_columns}),
        check_elements(name, "output", {shape.images, shape.outputs, shape.output_rows, shape.output_columns}),
        check_planes(name, "batch", shape.images), check_planes(name, "the number of input channels", shape.inputs),
        check_planes(name, "the number of output channels", shape.outputs)}) {
    if (!verdict) return verdict;
  }
  if (!cudnn_api().usable()) return Verdict::no(cudnn_api().why);
  return Verdict::yes();
}

CudnnForward::CudnnForward(CudaDevice& device, const CudnnShape& shape, const Tuning& tuning)
    : context_(device.context()),
      handle_(context_->companion<CudnnHandle>()),
      algorithm_(static_cast<int>(tuning.at("algorithm"))) {
  const CudnnApi& api = cudnn_api();
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  api.check(api.set_tensor(image_.get(), kCudnnRows, kCudnnFloat, number(shape.images), number(shape.inputs),
                           number(shape.rows), number(shape.columns)),
            "describing the image");
  api.check(api.set_tensor(output_.get(), kCudnnRows, kCudnnFloat, number(shape.images), number(shape.outputs),
                           number(shape.output_rows), number(shape.output_columns)),
            "describing the output");
  api.check(api.set_filter(filter_.get(), kCudnnFloat, kCudnnRows, number(shape.outputs), number(shape.inputs),
                           number(shape.filter_rows), number(shape.filter_columns)),
            "describing the filter");
  api.check(api.set_convolution(convolution_.get(), number(shape.padding_rows), number(shape.padding_columns),
                                number(shape.stride), number(shape.stride), 1, 1, kCudnnCrossCorrelation, kCudnnFloat),
            "describing the convolution");
  api.check(api.set_convolution_math(convolution_.get(), kCudnnFmaMath), "choosing the arithmetic");
  context_->make_current();
  const std::lock_guard one_at_a_time(handle_->mutex);
  api.check(api.forward_workspace(handle_->get(), image_.get(), filter_.get(), convolution_.get(), output_.get(),
                                  algorithm_, &workspace_bytes_),
            "asking for the workspace");
}

void CudnnForward::enqueue(backend::Queue& queue, const float* image, const float* weights, float* output,
                           void* workspace) const {
  static_cast<CudaQueue&>(queue).submit([&](CUstream stream) {
    const std::lock_guard one_at_a_time(handle_->mutex);
    const CudnnApi& api = cudnn_api();
    const float one = 1;
    const float zero = 0;
    api.check(api.set_stream(handle_->get(), stream), "choosing the stream");
    api.check(
        api.forward(handle_->get(), &one, image_.get(), image, filter_.get(), weights, convolution_.get(), algorithm_,
                    workspace_bytes_ > 0 ? workspace : nullptr, workspace_bytes_, &zero, output_.get(), output),
        "convolving");
  });
}

std::vector<Tunable> cudnn_forward_tunables(const CudnnShape& shape) {
  return {{.name = "algorithm",
           .meaning = "cuDNN's number of it: 0 computes indices as it goes, 1 beforehand, 2 multiplies whole matrices",
           .values = {kCudnnImplicitGemm, kCudnnImplicitPrecompGemm, kCudnnGemm},
           .preferred = shape.inputs == 1 ? kCudnnGemm : kCudnnImplicitPrecompGemm}};
}

}  // namespace tessera::cuda
