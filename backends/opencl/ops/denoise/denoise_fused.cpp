// denoise, fused: from voxels to sums in a group's local memory. See denoise_fused.cl.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/denoise_tables.h"
#include "opencl_embedded.h"
#include "ops/denoise/denoise_columns.h"
#include "ops/denoise/denoise_match.h"
#include "ops/denoise/denoise_variants.h"

namespace tessera::opencl {

namespace {

/// Matrix of denoise_fused.cl.
struct DenoiseMatrix {
  cl_float rows[64];
};
static_assert(sizeof(DenoiseMatrix) == 256, "denoise_fused.cl says so too");

/// The profiles'.
constexpr PerAxis kUnrolledPatches[] = {{8, 8, 1}, {7, 7, 1}, {6, 6, 1}, {4, 4, 4}};

bool has_program_of_sides(const DenoiseStep& step) {
  return std::ranges::find(kUnrolledPatches, step.patch) != std::end(kUnrolledPatches);
}

bool is_processor(const DeviceFacts& facts) {
  return facts.info.kind == DeviceKind::cpu;
}

/// A group of denoise_fused.cl for one step.
struct FusedGroup {
  FusedGroup(const DenoiseStep& step, bool is_wiener, bool wants_unrolled, const DeviceFacts& facts)
      : is_unrolled(wants_unrolled && has_program_of_sides(step)) {
    const std::int64_t members = denoise_places(step);
    constexpr std::int64_t kLeastLanes = 16;
    constexpr std::int64_t kItems = 64;
    const auto most_items = static_cast<std::int64_t>(std::bit_floor(facts.info.max_group_size));
    places = std::max(members, kLeastLanes);
    lanes = std::min(is_processor(facts) ? kLeastLanes : places, most_items);
    const std::int64_t voxels = step.patch.product();
    const std::int64_t pitch = (is_unrolled ? places : members) + 1;
    constexpr std::int64_t kApart = 16;  // half of the banks, see there
    const std::int64_t numbers = (is_wiener ? 2 : 1) * (voxels * pitch + kApart) + voxels;
    const std::int64_t kept = (is_unrolled ? places : PatchMatch::kMostPatches) * 20 + lanes * 8;
    stack_bytes = static_cast<std::uint64_t>(numbers) * sizeof(cl_float);
    most_bytes = stack_bytes + static_cast<std::uint64_t>(kept);
    const std::int64_t wanted =
        is_processor(facts) ? 1 : std::max<std::int64_t>(std::min(kItems, most_items) / lanes, 1);
    constexpr std::uint64_t kBeside = 64;  // what a compiler aligns
    while (stacks < wanted &&
           2 * static_cast<std::uint64_t>(stacks) * most_bytes + kBeside <= facts.info.local_memory_bytes)
      stacks *= 2;
    most_bytes += kBeside;
  }

  bool is_unrolled;
  std::int64_t places = 0;  ///< of the unrolled program
  std::int64_t lanes = 0;
  std::int64_t stacks = 1;
  std::uint64_t stack_bytes = 0;  ///< numbers and weights of one stack
  std::uint64_t most_bytes = 0;   ///< local memory of a group of one stack
};

backend::Verdict check_step(const Denoise& problem, const DenoiseStep& step, bool is_wiener, const DeviceFacts& facts) {
  const PatchMatch matching = denoise_matching(problem, step);
  if (std::string reason = mathematics::why_no_patch_key(matching); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  if (patch_lanes_pay(matching, facts)) {
    if (backend::Verdict verdict = check_patch_lanes(matching, facts); !verdict) return verdict;
  }
  // Either program must find room.
  const std::uint64_t bytes = std::max(FusedGroup(step, is_wiener, false, facts).most_bytes,
                                       FusedGroup(step, is_wiener, true, facts).most_bytes);
  if (bytes <= facts.info.local_memory_bytes) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("a stack of denoise needs ", bytes, " bytes of local memory, but '",
                                                facts.info.name, "' has ", facts.info.local_memory_bytes));
}

backend::Verdict check(const Denoise& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  backend::Verdict verdict = check_denoise(problem);
  if (verdict && problem.has(DenoiseStage::hard_threshold)) verdict = check_step(problem, problem.hard, false, facts);
  if (verdict && problem.has(DenoiseStage::wiener)) verdict = check_step(problem, problem.wiener, true, facts);
  return verdict;
}

bool has_columns(const Denoise& problem, const DeviceFacts& facts) {
  return (problem.has(DenoiseStage::hard_threshold) && denoise_columns_of(problem, problem.hard, false, facts)) ||
         (problem.has(DenoiseStage::wiener) && denoise_columns_of(problem, problem.wiener, true, facts));
}

std::vector<Tunable> tunables(const Denoise& problem, const backend::Device& device) {
  Tunable unrolled{.name = "unrolled",
                   .meaning = "1: the profiles' patches lie in registers, by programs for their sides",
                   .values = {0}};
  const bool is_possible = (problem.has(DenoiseStage::hard_threshold) && has_program_of_sides(problem.hard)) ||
                           (problem.has(DenoiseStage::wiener) && has_program_of_sides(problem.wiener));
  // Of a program PoCL takes 5 s to compile for a processor, which has too few registers to gain by it.
  if (is_possible && !is_processor(native(device).facts())) unrolled.values.push_back(1);
  unrolled.preferred = unrolled.values.back();
  Tunable columns{.name = "columns",
                  .meaning = "1: estimates of a column of references are added up in local memory first",
                  .values = {0}};
  const DeviceFacts& facts = native(device).facts();
  if (has_columns(problem, facts)) columns.values.push_back(1);
  // A processor's local memory is its memory, and its atomic additions to local memory are no cheaper. NVIDIA's OpenCL
  // takes 12.4 ms with columns on an H100 (the reference volume, both steps), and took 20.9 without (no file has that).
  columns.preferred = facts.is_nvidia ? columns.values.back() : 0;
  return {mathematics::denoise_slab_tunable(problem), unrolled, columns};
}

std::string program_options(const DenoiseStepPlan& plan, const FusedGroup& group) {
  const DeviceFacts& facts = plan.device.facts();
  std::string options = backend::sentence(
      denoise_options(plan.problem), " -DLANES=", group.lanes, " -DSTACKS=", group.stacks,
      " -DPLACES=", group.is_unrolled ? group.places : 0, " -DEXACT_DIVISION=", facts.divides_exactly ? 1 : 0,
      " -DLONG_ATOMICS=", facts.has_int64_atomics ? 1 : 0);
  if (facts.divides_exactly) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  const PerAxis& side = plan.step.patch;
  if (group.is_unrolled) options += backend::sentence(" -DSIDE_X=", side.x, " -DSIDE_Y=", side.y, " -DSIDE_Z=", side.z);
  return options;
}

bool is_matched_by_lanes(const DenoiseStepPlan& plan) {
  return patch_lanes_pay(denoise_matching(plan.problem, plan.step), plan.device.facts());
}

/// By lanes where they pay, else by vectors of candidates; on processors by two programs for all lengths of stacks.
DenoiseMatch match_of(const DenoiseStepPlan& plan, std::int64_t references, std::size_t offset_bytes) {
  if (is_matched_by_lanes(plan)) return DenoiseMatch::by_lanes(plan, references, offset_bytes);
  const PatchMatch matching = denoise_matching(plan.problem, plan.step);
  constexpr int kLanes = 4;
  const bool on_processor = is_processor(plan.device.facts());
  const std::int64_t places = !on_processor ? matching.max_patches : matching.max_patches <= 16 ? 16 : 64;
  return {plan,
          patch_launch(matching, plan.device, "patch_match_packed_key", embedded::patch_match_packed_key,
                       backend::sentence(" -DLANES=", kLanes, " -DPLACES=", places)),
          references, offset_bytes};
}

std::size_t bytes_beside(const DenoiseStepPlan& plan) {
  return is_matched_by_lanes(plan) ? DenoiseMatch::word_bytes(plan) : 0;
}

class FusedStacks final : public DenoiseStacks {
 public:
  FusedStacks(const DenoiseStepPlan& plan, std::int64_t references, std::size_t offset_bytes)
      : channels_(plan.problem.channels),
        group_(plan.step, plan.is_wiener, plan.tuning.at("unrolled") == 1, plan.device.facts()),
        match_(match_of(plan, references, offset_bytes)) {
    if (plan.tuning.at("columns") == 1) {
      const auto columns = denoise_columns_of(plan.problem, plan.step, plan.is_wiener, plan.device.facts());
      if (columns) columns_.emplace(plan, *columns);
    }
    if (columns_) return;  // its program is compiled alone
    filter_.emplace(plan.device, plan.is_wiener ? "denoise_fused_wiener" : "denoise_fused_hard",
                    embedded::denoise_fused, program_options(plan, group_));
    if (!group_.is_unrolled) return;
    const std::vector<float> rows = mathematics::denoise_matrix(plan.step.transform, plan.step.patch.x);
    std::copy(rows.begin(), rows.end(), matrix_.rows);
  }

  void prepare(DenoiseRun& run, const DenoiseOperands& operands) const override { match_.prepare(run, operands); }
  void enqueue(DenoiseRun& run, const DenoiseOperands& operands, const mathematics::DenoiseRound& round,
               DenoiseShape shape) const override {
    match_.enqueue(run, operands, round);
    if (columns_) return columns_->enqueue(run, operands, round, shape, match_);
    const auto items = static_cast<std::size_t>(group_.lanes * group_.stacks);
    const auto groups = static_cast<std::size_t>(ceil_div(shape.references, group_.stacks));
    const DenoiseLocal local{static_cast<std::size_t>(group_.stacks) * group_.stack_bytes};
    for (shape.channel = 0; shape.channel < channels_; ++shape.channel) {
      filter_->enqueue_range(run, {1, {groups * items, 1, 1}, {items, 1, 1}}, operands.volume, operands.basic,
                             operands.table, operands.largest, match_.counts(run), match_.indices(run), operands.sums,
                             local, shape, matrix_);
    }
  }

 private:
  std::int64_t channels_;
  FusedGroup group_;
  DenoiseMatch match_;
  std::optional<DenoiseFunction> filter_;
  std::optional<DenoiseColumnFilter> columns_;
  DenoiseMatrix matrix_{};
};

}  // namespace

backend::Variant<Denoise> denoise_fused() {
  return {
      .name = "fused",
      .summary = "a stack's work-items take it from its voxels to the sums in local memory",
      .check = check,
      .tunables = tunables,
      .make = [](const Denoise& problem, backend::Device& device, const Tuning& tuning) {
        return make_denoise(
            problem, device, tuning,
            {.reference_bytes = [](const DenoiseStepPlan& plan) { return DenoiseMatch::reference_bytes(plan.step); },
             .bytes_beside = bytes_beside,
             .make = [](const DenoiseStepPlan& plan, std::int64_t references,
                        std::size_t offset) -> std::unique_ptr<DenoiseStacks> {
               return std::make_unique<FusedStacks>(plan, references, offset);
             }});
      }};
}

}  // namespace tessera::opencl
