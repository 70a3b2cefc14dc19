// conv2d, marching_lanes and separable_lanes: for GPUs; 32 work-items march down a strip together. See
// conv2d_marching_lanes.cl.
#include <cstdint>
#include <memory>
#include <utility>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_march.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kPixels = 4;
constexpr std::int64_t kTogether = kLanes * kPixels;

Verdict pays(const Conv2d& /*problem*/, const backend::Device& device) {
  if (is_gpu(device)) return Verdict::yes();
  return Verdict::no(sentence("'", native(device).facts().info.name, "' is no GPU, and lanes are for GPUs"));
}

/// Loads and stores vectors where the operands of a launch allow it, else pixels.
class TogetherKernel final : public backend::Kernel {
 public:
  TogetherKernel(const Conv2d& problem, backend::Device& device, const MarchWeights& weights, std::int64_t rows)
      : pixels_(make(problem, device, weights, rows, false)),
        image_alignment_(static_cast<std::uint64_t>(kPixels) * size_bytes(problem.type)),
        output_alignment_(static_cast<std::uint64_t>(kPixels) * size_bytes(problem.output_type())) {
    const bool fits = problem.width % kPixels == 0 && problem.output_width() % kPixels == 0 &&
                      (problem.filter_width / 2 - problem.anchor_x) % kPixels == 0;
    if (fits) vectors_ = make(problem, device, weights, rows, true);
  }

  [[nodiscard]] std::size_t held_bytes() const override {
    return pixels_->held_bytes() + (vectors_ != nullptr ? vectors_->held_bytes() : 0);
  }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const bool is_aligned =
        operands[0].offset_bytes % image_alignment_ == 0 && operands[1].offset_bytes % output_alignment_ == 0;
    (vectors_ != nullptr && is_aligned ? vectors_ : pixels_)->launch(queue, operands, workspace);
  }

 private:
  static std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device,
                                               const MarchWeights& weights, std::int64_t rows, bool vectors) {
    const OpenclDevice& opencl = native(device);
    auto kernel = opencl.kernel(
        conv2d_program("conv2d_marching_lanes", embedded::conv2d_marching_lanes, problem,
                       weights.options(problem) +
                           sentence(" -DSHUFFLES=", opencl.facts().is_nvidia ? 1 : 0, " -DVECTORS=", vectors ? 1 : 0)));
    return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {1, kLanes, rows, kTogether}),
                               conv2d_weight_bits(problem, weights.values), device);
  }

  std::unique_ptr<backend::Kernel> vectors_;  // null where rows are not aligned
  std::unique_ptr<backend::Kernel> pixels_;
  std::uint64_t image_alignment_;
  std::uint64_t output_alignment_;
};

struct InLanes {
  static Verdict check(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    const DeviceInfo& info = native(device).facts().info;
    if (info.max_group_size < static_cast<std::uint64_t>(kLanes)) {
      return Verdict::no(sentence("conv2d in lanes takes work-groups of ", kLanes, ", but '", info.name, "' allows ",
                                  info.max_group_size));
    }
    return check_march(problem, device, is_separable);
  }

  static std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device, bool is_separable) {
    return {rows_per_run(problem, device, kTogether, is_separable)};
  }

  static std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning,
                                               bool is_separable) {
    return std::make_unique<TogetherKernel>(problem, device, MarchWeights::of(problem, is_separable),
                                            tuning.at("rows_per_run"));
  }
};

}  // namespace

backend::Variant<Conv2d> conv2d_marching_lanes() {
  return march_variant<InLanes, false>(
      "marching_lanes",
      "32 work-items march down a strip of 128 columns together, sums in registers; filters of 3, 5 and 7", pays);
}

backend::Variant<Conv2d> conv2d_separable_lanes() {
  return march_variant<InLanes, true>("separable_lanes", "marching_lanes for filters that are a column times a row",
                                      pays);
}

}  // namespace tessera::opencl
