// The variant "vendor_cudnn": one call of cuDNN for float images, if it is there. A yardstick for our own variants: it
// stands behind the faster ones in the list, so that it is not taken unless asked for.
//
// To cuDNN an image has one channel and the filter one output; images of a batch are its N. Without tensor cores, so
// that products are those of float32, and only by algorithms that add up the products themselves: FFT and Winograd
// would need a wider bound.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/conv2d_filter.h"
#include "backend/sentence.h"
#include "cuda_cudnn.h"
#include "cuda_queue.h"
#include "ops/conv2d/conv2d_launch.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// Elements of one operand: cuDNN counts them in 32 bits.
constexpr std::int64_t kMostElements = 2147483647;
/// Images of one call: more would not fit an axis of a grid.
constexpr std::int64_t kMostImages = 65535;
/// More is not worth a workspace; the algorithm without one is always there.
constexpr std::size_t kMostWorkspaceBytes = std::size_t{256} << 20;

/// The problem as cuDNN is told it.
struct Descriptors {
  explicit Descriptors(const Conv2d& problem) {
    const CudnnApi& api = cudnn_api();
    const auto images = static_cast<int>(problem.batch);
    const auto rows = static_cast<int>(problem.filter_height);
    const auto columns = static_cast<int>(problem.filter_width);
    const bool pads = problem.border == Border::same;
    api.check(api.set_tensor(image.get(), kCudnnRows, kCudnnFloat, images, 1, static_cast<int>(problem.height),
                             static_cast<int>(problem.width)),
              "describing the image");
    api.check(api.set_tensor(output.get(), kCudnnRows, kCudnnFloat, images, 1,
                             static_cast<int>(problem.output_height()), static_cast<int>(problem.output_width())),
              "describing the output");
    api.check(api.set_filter(filter.get(), kCudnnFloat, kCudnnRows, 1, 1, rows, columns), "describing the filter");
    api.check(api.set_convolution(convolution.get(), pads ? rows / 2 : 0, pads ? columns / 2 : 0, 1, 1, 1, 1,
                                  kCudnnCrossCorrelation, kCudnnFloat),
              "describing the convolution");
    api.check(api.set_convolution_math(convolution.get(), kCudnnFmaMath), "choosing the arithmetic");
  }

  CudnnTensor image;
  CudnnTensor output;
  CudnnFilter filter;
  CudnnConvolution convolution;
};

struct Choice {
  int algorithm = kCudnnImplicitGemm;
  std::size_t workspace_bytes = 0;
};

/// What one call takes beside its algorithm.
struct CallOperands {
  const void* image = nullptr;
  const void* weights = nullptr;
  void* output = nullptr;
  void* workspace = nullptr;
};

/// The handle must be locked.
void convolve(CudnnHandlePointer handle, CUstream stream, const Descriptors& problem, const Choice& choice,
              const CallOperands& operands) {
  const CudnnApi& api = cudnn_api();
  const float one = 1;
  const float zero = 0;
  api.check(api.set_stream(handle, stream), "choosing the stream");
  api.check(api.forward(handle, &one, problem.image.get(), operands.image, problem.filter.get(), operands.weights,
                        problem.convolution.get(), choice.algorithm, operands.workspace, choice.workspace_bytes, &zero,
                        problem.output.get(), operands.output),
            "convolving");
}

/// Those that cuDNN proposes and that keep to this library's rules. The context must be current, the handle locked.
std::vector<Choice> candidates(CudnnHandlePointer handle, const Descriptors& problem) {
  const CudnnApi& api = cudnn_api();
  std::array<CudnnForwardAlgorithm, 16> proposals{};
  int count = 0;
  api.check(api.propose_forward(handle, problem.image.get(), problem.filter.get(), problem.convolution.get(),
                                problem.output.get(), static_cast<int>(proposals.size()), &count, proposals.data()),
            "choosing an algorithm");
  std::vector<Choice> found;
  for (int i = 0; i < count; ++i) {
    const CudnnForwardAlgorithm& proposal = proposals[static_cast<std::size_t>(i)];
    if (proposal.status != 0 || proposal.algorithm > kCudnnDirect || proposal.math != kCudnnFmaMath ||
        proposal.determinism != kCudnnDeterministic) {
      continue;
    }
    Choice choice{proposal.algorithm, 0};
    api.check(api.forward_workspace(handle, problem.image.get(), problem.filter.get(), problem.convolution.get(),
                                    problem.output.get(), choice.algorithm, &choice.workspace_bytes),
              "asking for the workspace");
    if (choice.workspace_bytes <= kMostWorkspaceBytes) found.push_back(choice);
  }
  if (found.empty()) found.emplace_back();
  return found;
}

/// Times the candidates on memory of their own. cuDNN's order is not taken for it: on an H200 its heuristics put
/// the algorithm first that takes 1190 us for 4096 x 4096 and 3 x 3, and third the one that takes 150.
Choice fastest(CudaDevice& device, const Conv2d& problem, CudnnHandle& handle, const Descriptors& descriptors,
               const void* weights, const std::vector<Choice>& choices) {
  constexpr int kRuns = 3;
  const auto bytes_of = [&](std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(problem.batch * rows * columns) * sizeof(float);
  };
  std::size_t workspace_bytes = 1;
  for (const Choice& choice : choices) workspace_bytes = std::max(workspace_bytes, choice.workspace_bytes);
  const auto image = device.allocate(bytes_of(problem.height, problem.width));
  const auto output = device.allocate(bytes_of(problem.output_height(), problem.output_width()));
  const auto workspace = device.allocate(workspace_bytes);
  const CallOperands operands{pointer_to<void>({image.get(), 0, 1}), weights, pointer_to<void>({output.get(), 0, 1}),
                              pointer_to<void>({workspace.get(), 0, 1})};
  const auto queue = device.make_queue();
  Choice best = choices.front();
  double best_s = std::numeric_limits<double>::infinity();
  for (const Choice& choice : choices) {
    const auto run = [&](int times) {
      static_cast<CudaQueue&>(*queue).submit([&](CUstream stream) {
        const std::lock_guard one_at_a_time(handle.mutex);
        for (int i = 0; i < times; ++i) convolve(handle.get(), stream, descriptors, choice, operands);
      });
      queue->finish();
    };
    run(1);
    const auto start = std::chrono::steady_clock::now();
    run(kRuns);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds < best_s) {
      best_s = seconds;
      best = choice;
    }
  }
  return best;
}

class Conv2dVendorCudnn final : public backend::Kernel {
 public:
  Conv2dVendorCudnn(CudaDevice& device, const Conv2d& problem)
      : context_(device.context()), handle_(context_->companion<CudnnHandle>()), descriptors_(problem) {
    std::vector<float> weights;
    for (const double weight : problem.filter) weights.push_back(backend::conv2d_weight<float>(weight));
    const std::size_t bytes = weights.size() * sizeof(float);
    weights_ = device.allocate(bytes);
    const auto queue = device.make_queue();
    queue->upload({weights_.get(), 0, bytes}, weights.data());
    queue->finish();
    choice_ = fastest(device, problem, handle_, descriptors_, weights_pointer(), proposed());
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return choice_.workspace_bytes; }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    static_cast<CudaQueue&>(queue).submit([&](CUstream stream) {
      const std::lock_guard one_at_a_time(handle_.mutex);
      convolve(handle_.get(), stream, descriptors_, choice_,
               {pointer_to<const void>(operands[0]), weights_pointer(), pointer_to<void>(operands[1]),
                choice_.workspace_bytes > 0 ? pointer_to<void>(workspace) : nullptr});
    });
  }

 private:
  [[nodiscard]] std::vector<Choice> proposed() const {
    context_->make_current();
    const std::lock_guard one_at_a_time(handle_.mutex);
    return candidates(handle_.get(), descriptors_);
  }
  [[nodiscard]] const void* weights_pointer() const { return pointer_to<const void>({weights_.get(), 0, 1}); }

  std::shared_ptr<Context> context_;  // the handle lives as long as its context
  CudnnHandle& handle_;
  Descriptors descriptors_;
  std::unique_ptr<backend::Buffer> weights_;
  Choice choice_;
};

/// What runs where there is nothing to compute: cuDNN describes no empty image.
class NothingToDo final : public backend::Kernel {
 public:
  void launch(backend::Queue&, std::span<const backend::Slice>, const backend::Slice&) override {}
};

Verdict check_size(const char* name, std::int64_t rows, std::int64_t columns, std::int64_t images) {
  std::int64_t elements = 0;
  if (!__builtin_mul_overflow(rows, columns, &elements) && !__builtin_mul_overflow(elements, images, &elements) &&
      elements <= kMostElements) {
    return Verdict::yes();
  }
  return Verdict::no(sentence("the ", name, " of conv2d has ", images, " x ", rows, " x ", columns,
                              " elements, but cuDNN counts up to ", kMostElements));
}

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
  if (Verdict image = check_size("image", problem.height, problem.width, problem.batch); !image) return image;
  if (problem.batch > kMostImages) {
    return Verdict::no(
        sentence("batch of conv2d is ", problem.batch, ", but cuDNN is given ", kMostImages, " images at most"));
  }
  if (!cudnn_api().usable()) return Verdict::no(cudnn_api().why);
  return Verdict::yes();
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning&) {
  if (is_empty(problem)) return std::make_unique<NothingToDo>();
  return std::make_unique<Conv2dVendorCudnn>(static_cast<CudaDevice&>(device), problem);
}

}  // namespace

backend::Variant<Conv2d> conv2d_vendor_cudnn() {
  return {
      .name = "vendor_cudnn",
      .summary = "cuDNN in float32 without tensor cores, opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make = make,
  };
}

}  // namespace tessera::cuda
