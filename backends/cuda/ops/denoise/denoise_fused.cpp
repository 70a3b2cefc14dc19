// denoise, fused: from voxels to sums by the threads of a warp. See denoise_fused.cu.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "mathematics/denoise_tables.h"
#include "ops/denoise/denoise_columns.h"
#include "ops/denoise/denoise_match.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/patch_match/patch_match_packed_key.h"

namespace tessera::cuda {

namespace {

using backend::sentence;

/// Stacks of a round. On an H100 rounds of 64 MiB, whose indices stay in the second-level cache, are 5 % slower: each
/// ends with blocks that have the card to themselves.
constexpr std::size_t kRoundBytes = std::size_t{256} << 20;

/// A block of denoise_fused.cu for one step.
struct FusedBlock {
  FusedBlock(const DenoiseStep& step, bool is_wiener, bool wants_registers) {
    const std::int64_t members = denoise_places(step);
    constexpr std::int64_t kMostInRegisters = 32;
    if (wants_registers && members <= kMostInRegisters) {
      if (step.patch == PerAxis{8, 8, 1}) shape = "square";
      if (step.patch == PerAxis{4, 4, 4}) shape = "cube";
      if (is_wiener && step.patch == PerAxis{6, 6, 1}) shape = "square_of_6";
      if (is_wiener && step.patch == PerAxis{7, 7, 1}) shape = "square_of_7";
    }
    if (is_known()) places = members <= 16 ? 16 : 32;
    lanes = fused_lanes(places);
    stack_bytes = fused_stack_bytes(step.patch.product(), is_known() ? places : members, is_wiener);
  }
  [[nodiscard]] bool is_known() const { return shape != "any"; }
  /// As many as the block's threads and so much shared memory hold.
  [[nodiscard]] std::int64_t stacks(std::uint64_t shared_bytes) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(shared_bytes) / stack_bytes, 1, kFusedThreads / lanes);
  }

  std::string shape = "any";
  int places = 0;  ///< of the program; 0: those that the launch tells
  int lanes = 0;
  std::int64_t stack_bytes = 0;
};

bool has_known_block(const Denoise& problem) {
  return (problem.has(DenoiseStage::hard_threshold) && FusedBlock(problem.hard, false, true).is_known()) ||
         (problem.has(DenoiseStage::wiener) && FusedBlock(problem.wiener, true, true).is_known());
}

backend::Verdict check_step(const Denoise& problem, const DenoiseStep& step, bool is_wiener,
                            const backend::Device& device) {
  if (backend::Verdict verdict = check_packed_key(denoise_matching(problem, step), device); !verdict) return verdict;
  const std::int64_t bytes =
      std::max(FusedBlock(step, is_wiener, false).stack_bytes, FusedBlock(step, is_wiener, true).stack_bytes);
  const std::uint64_t limit = native(device).context()->limits().shared_bytes;
  if (static_cast<std::uint64_t>(bytes) <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(
      sentence("a stack of denoise needs ", bytes, " bytes of shared memory, but a group has at most ", limit));
}

backend::Verdict check_fused(const Denoise& problem, const backend::Device& device) {
  backend::Verdict verdict = check_denoise(problem, device);
  if (verdict && problem.has(DenoiseStage::hard_threshold)) verdict = check_step(problem, problem.hard, false, device);
  if (verdict && problem.has(DenoiseStage::wiener)) verdict = check_step(problem, problem.wiener, true, device);
  return verdict;
}

bool has_columns(const Denoise& problem, const DeviceLimits& limits) {
  return (problem.has(DenoiseStage::hard_threshold) && denoise_columns_of(problem, problem.hard, false, limits)) ||
         (problem.has(DenoiseStage::wiener) && denoise_columns_of(problem, problem.wiener, true, limits));
}

std::vector<Tunable> tunables(const Denoise& problem, const backend::Device& device) {
  Tunable columns{.name = "columns",
                  .meaning = "1: estimates of a column of references are added up in shared memory first",
                  .values = {0}};
  if (has_columns(problem, native(device).context()->limits())) columns.values.push_back(1);
  columns.preferred = columns.values.back();
  Tunable unrolled{.name = "unrolled",
                   .meaning = "1: the profiles' patches lie in registers, by programs for their sides",
                   .values = {0}};
  if (has_known_block(problem)) unrolled.values.push_back(1);
  unrolled.preferred = unrolled.values.back();
  return {mathematics::denoise_slab_tunable(problem), unrolled, columns};
}

class FusedStacks final : public DenoiseStacks {
 public:
  FusedStacks(const DenoiseStepPlan& plan, std::int64_t references)
      : channels_(plan.problem.channels),
        block_(plan.step, plan.is_wiener, plan.tuning.at("unrolled") == 1),
        stacks_(block_.stacks(plan.device.context()->limits().shared_bytes)),
        layout_(plan.step, references),
        match_(plan.device.context(), denoise_matching(plan.problem, plan.step)),
        filter_(plan.device.context(), embedded::denoise_fused, function_name(plan, block_), LaunchGrid()) {
    if (plan.tuning.at("columns") == 1) {
      const auto columns = denoise_columns_of(plan.problem, plan.step, plan.is_wiener, plan.device.context()->limits());
      if (columns) columns_.emplace(plan, *columns);
    }
    if (block_.is_known()) matrix_ = mathematics::denoise_matrix(plan.step.transform, plan.step.patch.x);
    allow_shared_memory(*plan.device.context(), function_name(plan, block_));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    return layout_.end() + match_.workspace_bytes();
  }
  void prepare(backend::Queue& queue, const void* matched, const backend::Slice& workspace) const override {
    PatchArguments match = match_.arguments();
    match.volume = matched;
    match_.prepare(queue, match, rest_of(workspace, layout_.end()));
  }
  void enqueue(backend::Queue& queue, const void* matched, const mathematics::DenoiseRound& round,
               DenoiseArguments arguments, const backend::Slice& workspace) const override {
    match_.run(queue, layout_.of_round(match_.arguments(), matched, round, workspace),
               rest_of(workspace, layout_.end()));
    arguments.counts = layout_.counts(workspace);
    arguments.indices = layout_.indices(workspace);
    arguments.stack_bytes = static_cast<std::int32_t>(block_.stack_bytes);
    if (columns_) return columns_->enqueue(queue, round, arguments);
    std::copy(matrix_.begin(), matrix_.end(), arguments.matrix);
    LaunchGrid grid;
    grid.groups[0] = static_cast<unsigned>(mathematics::ceil_div<std::int64_t>(arguments.references, stacks_));
    grid.group_size[0] = static_cast<unsigned>(stacks_ * block_.lanes);
    grid.dynamic_shared_bytes = shared_bytes();
    for (arguments.channel = 0; arguments.channel < channels_; ++arguments.channel)
      filter_.enqueue(queue, arguments, grid);
  }

 private:
  static std::string function_name(const DenoiseStepPlan& plan, const FusedBlock& block) {
    return sentence("tessera_denoise_fused_", to_string(plan.problem.type), plan.is_wiener ? "_wiener_" : "_hard_",
                    block.shape, "_", block.places);
  }
  [[nodiscard]] unsigned shared_bytes() const noexcept { return static_cast<unsigned>(stacks_ * block_.stack_bytes); }
  static void allow_shared_memory(Context& context, const std::string& name) {
    context.make_current();
    check(context.api().cuFuncSetAttribute(context.function(embedded::denoise_fused, name),
                                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(context.limits().shared_bytes)),
          "allowing a kernel all of the shared memory");
  }

  std::int64_t channels_;
  FusedBlock block_;
  std::int64_t stacks_;
  DenoiseMatchLayout layout_;
  PackedKeyMatch match_;
  CudaFunction filter_;
  std::optional<DenoiseColumnFilter> columns_;
  std::vector<float> matrix_;
};

}  // namespace

backend::Variant<Denoise> denoise_fused() {
  return {.name = "fused",
          .summary = "a stack's threads, of one warp, take it from its voxels to the sums in shared memory",
          .check = check_fused,
          .tunables = tunables,
          .make = [](const Denoise& problem, backend::Device& device, const Tuning& tuning) {
            return make_denoise(
                problem, device, tuning,
                {.round_bytes = kRoundBytes,
                 .reference_bytes =
                     [](const DenoiseStepPlan& plan) { return DenoiseMatchLayout::reference_bytes(plan.step); },
                 .make = [](const DenoiseStepPlan& plan, std::int64_t references) -> std::unique_ptr<DenoiseStacks> {
                   return std::make_unique<FusedStacks>(plan, references);
                 }});
          }};
}

}  // namespace tessera::cuda
