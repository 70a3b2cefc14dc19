// denoise, staged: a launch for each stage of a round's stacks. See denoise_staged.cl.
#include <algorithm>

#include "opencl_embedded.h"
#include "ops/denoise/denoise_match.h"
#include "ops/denoise/denoise_variants.h"

namespace tessera::opencl {

namespace {

/// Coefficients of a stack, the basic estimate's too, and its energy.
std::size_t reference_bytes(const DenoiseStepPlan& plan) {
  const std::int64_t numbers = denoise_places(plan.step) * plan.step.patch.product();
  return DenoiseMatch::reference_bytes(plan.step) + sizeof(cl_ulong) +
         static_cast<std::size_t>(numbers) * sizeof(cl_float) * (plan.is_wiener ? 2 : 1);
}

class StagedStacks final : public DenoiseStacks {
 public:
  StagedStacks(const DenoiseStepPlan& plan, std::int64_t references, std::size_t offset_bytes)
      : channels_(plan.problem.channels),
        is_wiener_(plan.is_wiener),
        places_(denoise_places(plan.step)),
        voxels_(plan.step.patch.product()),
        match_(plan,
               patch_launch(denoise_matching(plan.problem, plan.step), plan.device, "patch_match_naive",
                            embedded::patch_match_naive),
               references, offset_bytes),
        transform_(function(plan, "denoise_transform")),
        shrink_(function(plan, "denoise_shrink")),
        transform_back_(function(plan, "denoise_transform_back")),
        add_(function(plan, "denoise_add")) {
    const auto bytes = static_cast<std::size_t>(references * places_ * voxels_) * sizeof(cl_float);
    coefficients_ = match_.end_of_workspace();
    guide_ = coefficients_ + to_denoise_lines(bytes);
    energies_ = guide_ + (is_wiener_ ? to_denoise_lines(bytes) : 0);
  }

  void prepare(DenoiseRun& run, const DenoiseOperands& operands) const override { match_.prepare(run, operands); }
  void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round,
               DenoiseShape shape) const override {
    const DenoiseMemory counts = match_.counts(run);
    const DenoiseMemory indices = match_.indices(run);
    const DenoiseMemory coefficients = memory_at(run.workspace, coefficients_, sizeof(cl_float));
    const DenoiseMemory guide = memory_at(run.workspace, is_wiener_ ? guide_ : coefficients_, sizeof(cl_float));
    const DenoiseMemory energies = memory_at(run.workspace, energies_, sizeof(cl_ulong));
    const std::int64_t stacks = shape.references;
    match_.enqueue(run, operands, round);
    for (shape.channel = 0; shape.channel < channels_; ++shape.channel) {
      const auto transform = [&](const DenoiseMemory& source, const DenoiseMemory& to, cl_int has_instead) {
        transform_.enqueue(run, stacks * places_, source, operands.basic, operands.table, operands.largest, counts,
                           indices, to, energies, shape, has_instead);
      };
      transform(operands.volume, coefficients, is_wiener_ ? 1 : 0);
      if (is_wiener_) transform(operands.basic, guide, 0);
      shrink_.enqueue(run, stacks * voxels_, operands.table, operands.largest, counts, coefficients, guide, energies,
                      shape);
      transform_back_.enqueue(run, stacks * places_, operands.table, counts, coefficients, shape);
      add_.enqueue(run, stacks * places_ * voxels_, operands.table, counts, indices, coefficients, energies,
                   operands.sums, shape);
    }
  }

 private:
  static DenoiseFunction function(const DenoiseStepPlan& plan, const char* name) {
    return {plan.device, name, embedded::denoise_staged,
            denoise_options(plan.problem) + " -DEXACT_DIVISION=0 -DLONG_ATOMICS=0"};
  }

  std::int64_t channels_;
  bool is_wiener_;
  std::int64_t places_;
  std::int64_t voxels_;
  DenoiseMatch match_;
  DenoiseFunction transform_;
  DenoiseFunction shrink_;
  DenoiseFunction transform_back_;
  DenoiseFunction add_;
  std::size_t coefficients_ = 0;
  std::size_t guide_ = 0;
  std::size_t energies_ = 0;
};

}  // namespace

backend::Variant<Denoise> denoise_staged() {
  return {.name = "staged",
          .summary = "match, transform, shrink, transform back and add, each a launch over many stacks",
          .check = [](const Denoise& problem, const backend::Device&) { return check_denoise(problem); },
          .tunables = [](const Denoise& problem,
                         const backend::Device&) { return std::vector{mathematics::denoise_slab_tunable(problem)}; },
          .make =
              [](const Denoise& problem, backend::Device& device, const Tuning& tuning) {
                return make_denoise(problem, device, tuning,
                                    {.reference_bytes = reference_bytes,
                                     .bytes_beside = [](const DenoiseStepPlan&) { return std::size_t{0}; },
                                     .make = [](const DenoiseStepPlan& plan, std::int64_t references,
                                                std::size_t offset) -> std::unique_ptr<DenoiseStacks> {
                                       return std::make_unique<StagedStacks>(plan, references, offset);
                                     }});
              }};
}

}  // namespace tessera::opencl
