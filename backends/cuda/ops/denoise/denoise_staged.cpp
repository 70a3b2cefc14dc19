// denoise, staged: a launch for each stage of a round's stacks. See denoise_staged.cu.
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/denoise/denoise_match.h"
#include "ops/denoise/denoise_variants.h"

namespace tessera::cuda {

namespace {

using backend::sentence;

/// Stacks of a round: what lies between its launches should stay in the second-level cache, and must fill the card.
constexpr std::size_t kRoundBytes = std::size_t{64} << 20;

/// Coefficients of a stack, the basic estimate's too, and its energy.
std::size_t reference_bytes(const DenoiseStepPlan& plan) {
  const std::int64_t numbers = denoise_places(plan.step) * plan.step.patch.product();
  return DenoiseMatchLayout::reference_bytes(plan.step) + sizeof(std::uint64_t) +
         static_cast<std::size_t>(numbers) * sizeof(float) * (plan.is_wiener ? 2 : 1);
}

class StagedStacks final : public DenoiseStacks {
 public:
  StagedStacks(const DenoiseStepPlan& plan, std::int64_t references)
      : channels_(plan.problem.channels),
        is_wiener_(plan.is_wiener),
        voxels_(plan.step.patch.product()),
        layout_(plan.step, references),
        match_arguments_(patch_arguments(denoise_matching(plan.problem, plan.step))),
        match_(plan.device.context(), embedded::patch_match_naive,
               "tessera_patch_match_naive_" + patch_types(denoise_matching(plan.problem, plan.step)), LaunchGrid()),
        transform_(function(plan, sentence("transform_", to_string(plan.problem.type)))),
        shrink_(function(plan, sentence("shrink_", to_string(plan.problem.type)))),
        transform_back_(function(plan, "transform_back")),
        add_(function(plan, "add")) {
    const auto numbers = static_cast<std::size_t>(references * denoise_places(plan.step) * voxels_);
    coefficients_ = layout_.end();
    guide_ = coefficients_ + to_denoise_lines(numbers * sizeof(float));
    energies_ = guide_ + (is_wiener_ ? to_denoise_lines(numbers * sizeof(float)) : 0);
    end_ = energies_ + to_denoise_lines(static_cast<std::size_t>(references) * sizeof(std::uint64_t));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return end_; }
  void prepare(backend::Queue&, const void*, const backend::Slice&) const override {}
  void enqueue(backend::Queue& queue, const void* matched, const mathematics::DenoiseRound& round,
               DenoiseArguments arguments, const backend::Slice& workspace) const override {
    const std::int64_t stacks = arguments.references;
    PatchArguments match = layout_.of_round(match_arguments_, matched, round, workspace);
    match_.enqueue(queue, match, patch_line(stacks));
    auto* const coefficients = pointer_at<float>(workspace, coefficients_);
    auto* const guide = pointer_at<float>(workspace, guide_);
    arguments.counts = layout_.counts(workspace);
    arguments.indices = layout_.indices(workspace);
    arguments.guide = guide;
    arguments.energies = pointer_at<std::uint64_t>(workspace, energies_);
    for (arguments.channel = 0; arguments.channel < channels_; ++arguments.channel) {
      const auto transform = [&](const void* source, float* to, bool has_instead) {
        arguments.source = source;
        arguments.coefficients = to;
        arguments.has_instead = has_instead ? 1 : 0;
        transform_.enqueue(queue, arguments, denoise_line(stacks * arguments.places));
      };
      if (is_wiener_) transform(arguments.basic, guide, false);
      transform(arguments.volume, coefficients, is_wiener_);
      shrink_.enqueue(queue, arguments, denoise_line(stacks * voxels_));
      transform_back_.enqueue(queue, arguments, denoise_line(stacks * arguments.places));
      add_.enqueue(queue, arguments, denoise_line(stacks * arguments.places * voxels_));
    }
  }

 private:
  static CudaFunction function(const DenoiseStepPlan& plan, const std::string& name) {
    return {plan.device.context(), embedded::denoise_staged, "tessera_denoise_" + name, LaunchGrid()};
  }

  std::int64_t channels_;
  bool is_wiener_;
  std::int64_t voxels_;
  DenoiseMatchLayout layout_;
  PatchArguments match_arguments_;
  CudaFunction match_;
  CudaFunction transform_;
  CudaFunction shrink_;
  CudaFunction transform_back_;
  CudaFunction add_;
  std::size_t coefficients_ = 0;
  std::size_t guide_ = 0;
  std::size_t energies_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

backend::Variant<Denoise> denoise_staged() {
  return {.name = "staged",
          .summary = "match, transform, shrink, transform back and add, each a launch over many stacks",
          .check = check_denoise,
          .tunables = [](const Denoise& problem,
                         const backend::Device&) { return std::vector{mathematics::denoise_slab_tunable(problem)}; },
          .make =
              [](const Denoise& problem, backend::Device& device, const Tuning& tuning) {
                return make_denoise(problem, device, tuning,
                                    {.round_bytes = kRoundBytes,
                                     .reference_bytes = reference_bytes,
                                     .make = [](const DenoiseStepPlan& plan,
                                                std::int64_t references) -> std::unique_ptr<DenoiseStacks> {
                                       return std::make_unique<StagedStacks>(plan, references);
                                     }});
              }};
}

}  // namespace tessera::cuda
