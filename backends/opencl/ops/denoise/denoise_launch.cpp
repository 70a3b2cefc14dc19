// The frame of both steps: scale, what is matched, round after round of stacks, and sums that become voxels.
#include "ops/denoise/denoise_launch.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/denoise_tables.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// Work-items that look for the largest voxel, each in strides.
constexpr std::int64_t kLookers = 1 << 14;

DenoiseShape shape_of(const DenoiseStepPlan& plan, const mathematics::DenoiseRounds& rounds) {
  const mathematics::DenoiseNumbers numbers(plan.problem, plan.step, 0);
  const auto fill = [](cl_long(&to)[3], const PerAxis& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  DenoiseShape shape{};
  fill(shape.size, plan.problem.size);
  fill(shape.patch, plan.step.patch);
  fill(shape.held, rounds.held);
  shape.places = denoise_places(plan.step);
  shape.channels = plan.problem.channels;
  shape.axis = rounds.axis == &PerAxis::z ? 2 : 1;
  shape.has_basic = plan.is_wiener ? 1 : 0;
  shape.fraction_bits = numbers.fraction_bits();
  shape.place_bits = std::countr_zero(static_cast<std::uint64_t>(shape.places));
  shape.units = numbers.units();
  shape.most_units = numbers.most_units();
  return shape;
}

/// Matrices, window, thresholds and variances, as denoise_volume.cl finds them.
std::vector<float> table_of(const DenoiseStepPlan& plan) {
  const mathematics::DenoiseTables tables(plan.step);
  std::vector<float> all;
  for (const std::vector<float>& part :
       {tables.x, tables.y, tables.z, tables.window, mathematics::denoise_scales(plan.problem, plan.step)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Where a step's parts of the workspace begin.
struct StepLayout {
  std::size_t largest;
  std::size_t mean;
  std::size_t sums;
  std::size_t stacks;

  StepLayout(const Denoise& problem, const mathematics::DenoiseRounds& rounds, std::size_t begin) {
    const auto bytes_of = [](std::int64_t count, std::size_t bytes) {
      return to_denoise_lines(static_cast<std::size_t>(count) * bytes);
    };
    largest = begin;
    mean = largest + kDenoiseLine;
    sums = mean + (problem.channels == 3 ? bytes_of(problem.size.product(), size_bytes(problem.type)) : 0);
    stacks = sums + bytes_of(rounds.held.product() * problem.channels,
                             static_cast<std::size_t>(mathematics::kDenoiseSumBytes));
  }
};

/// One step.
class StepKernel {
 public:
  /// With memory in the workspace from `begin` on.
  StepKernel(const DenoiseStepPlan& plan, const DenoiseStacksMaker& maker, std::size_t begin)
      : problem_(plan.problem),
        table_numbers_(table_of(plan)),
        table_(plan.device.context(), std::as_bytes(std::span(table_numbers_))),
        rounds_(plan.problem, plan.step, plan.tuning.at("slab"), references_of_round(plan, maker)),
        layout_(plan.problem, rounds_, begin),
        shape_(shape_of(plan, rounds_)),
        begin_(function(plan, "denoise_begin")),
        largest_(function(plan, "denoise_largest")),
        mean_(function(plan, "denoise_mean")),
        clear_(function(plan, "denoise_clear")),
        finish_(function(plan, "denoise_finish")),
        stacks_(maker.make(plan, rounds_.most_references_of_round, layout_.stacks)) {
    end_ = layout_.stacks + static_cast<std::size_t>(rounds_.most_references_of_round) * maker.reference_bytes(plan) +
           maker.bytes_beside(plan) + kMostParts * kDenoiseLine;
  }

  [[nodiscard]] std::size_t end_of_workspace() const noexcept { return end_; }
  [[nodiscard]] std::size_t table_bytes() const noexcept { return table_numbers_.size() * sizeof(float); }

  void enqueue(DenoiseRun& run, const DenoiseMemory& volume, const DenoiseMemory& basic,
               const DenoiseMemory& result) const {
    const std::size_t voxel_bytes = size_bytes(problem_.type);
    const std::int64_t voxels = problem_.size.product();
    DenoiseOperands operands{.volume = volume,
                             .basic = basic,
                             .matched = basic,
                             .largest = memory_at(run.workspace, layout_.largest, sizeof(cl_uint)),
                             .sums = memory_at(run.workspace, layout_.sums, sizeof(cl_ulong)),
                             .table = table_.native()};
    if (problem_.type == DataType::float32) {
      begin_.enqueue_range(run, {1, {1, 1, 1}, {1, 1, 1}}, operands.largest);
      largest_.enqueue(run, std::min(voxels * problem_.channels, kLookers), volume, basic, operands.largest, shape_);
    }
    if (problem_.channels == 3) {
      operands.matched = memory_at(run.workspace, layout_.mean, voxel_bytes);
      mean_.enqueue(run, voxels, basic, operands.matched, shape_);
    }
    stacks_->prepare(run, operands);
    const std::int64_t slice = voxels / (problem_.size.*rounds_.axis);
    for (const mathematics::DenoiseRound& round : rounds_.rounds) {
      DenoiseShape shape = shape_;
      shape.references = round.references.product();
      shape.end_of_sums = round.end_of_sums;
      if (round.cleared.count() > 0) {
        shape.first_slice = round.cleared.first;
        shape.end_slice = round.cleared.end;
        clear_.enqueue(run, round.cleared.count() * slice, operands.sums, shape);
      }
      stacks_->enqueue(run, operands, round, shape);
      if (round.finished.count() > 0) {
        shape.first_slice = round.finished.first;
        shape.end_slice = round.finished.end;
        finish_.enqueue(run, round.finished.count() * slice, volume, basic, result, operands.largest, operands.sums,
                        shape);
      }
    }
  }

 private:
  /// Arrays of a variant's stacks, each of which may begin a line later.
  static constexpr std::size_t kMostParts = 8;

  static std::int64_t references_of_round(const DenoiseStepPlan& plan, const DenoiseStacksMaker& maker) {
    return std::max<std::int64_t>(kMostWorkspaceBytes / static_cast<std::int64_t>(maker.reference_bytes(plan)), 1);
  }
  static DenoiseFunction function(const DenoiseStepPlan& plan, const char* name) {
    return {plan.device, name, embedded::denoise_frame, denoise_options(plan.problem)};
  }

  const Denoise& problem_;
  std::vector<float> table_numbers_;
  OpenclBuffer table_;
  mathematics::DenoiseRounds rounds_;
  StepLayout layout_;
  DenoiseShape shape_;
  DenoiseFunction begin_;
  DenoiseFunction largest_;
  DenoiseFunction mean_;
  DenoiseFunction clear_;
  DenoiseFunction finish_;
  std::unique_ptr<DenoiseStacks> stacks_;
  std::size_t end_ = 0;
};

/// Both steps, or one. The basic estimate of both stands at the workspace's begin.
class DenoiseKernel final : public backend::Kernel {
 public:
  DenoiseKernel(const Denoise& problem, const OpenclDevice& device, const Tuning& tuning,
                const DenoiseStacksMaker& maker)
      : problem_(problem) {
    if (problem_.sigma == 0) return;
    std::size_t begin = 0;
    if (problem_.stage == DenoiseStage::both) begin = to_denoise_lines(volume_bytes());
    if (problem_.has(DenoiseStage::hard_threshold))
      hard_.emplace(DenoiseStepPlan{problem_, problem_.hard, false, device, tuning}, maker, begin);
    if (problem_.has(DenoiseStage::wiener))
      wiener_.emplace(DenoiseStepPlan{problem_, problem_.wiener, true, device, tuning}, maker, begin);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return std::max(hard_ ? hard_->end_of_workspace() : 0, wiener_ ? wiener_->end_of_workspace() : 0);
  }
  [[nodiscard]] std::size_t held_bytes() const override {
    return (hard_ ? hard_->table_bytes() : 0) + (wiener_ ? wiener_->table_bytes() : 0);
  }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    if (problem_.sigma == 0) {
      const auto whole = [&](const backend::Slice& slice) {
        return backend::Slice{slice.buffer, slice.offset_bytes, volume_bytes()};
      };
      return queue.copy(whole(operands[2]), whole(operands[0]));
    }
    const std::size_t voxel_bytes = size_bytes(problem_.type);
    const DenoiseMemory volume = memory_at(operands[0], 0, voxel_bytes);
    const DenoiseMemory result = memory_at(operands[2], 0, voxel_bytes);
    DenoiseRun run{static_cast<OpenclQueue&>(queue), workspace};
    DenoiseMemory basic = wiener_ && !hard_ ? memory_at(operands[1], 0, voxel_bytes) : DenoiseMemory();
    if (hard_) {
      basic = wiener_ ? memory_at(workspace, 0, voxel_bytes) : result;
      hard_->enqueue(run, volume, volume, basic);
    }
    if (wiener_) wiener_->enqueue(run, volume, basic, result);
  }

 private:
  [[nodiscard]] std::size_t volume_bytes() const noexcept {
    return static_cast<std::size_t>(problem_.size.product() * problem_.channels) * size_bytes(problem_.type);
  }

  Denoise problem_;
  std::optional<StepKernel> hard_;
  std::optional<StepKernel> wiener_;
};

}  // namespace

std::int64_t denoise_places(const DenoiseStep& step) noexcept {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(step.max_patches)));
}

PatchMatch denoise_matching(const Denoise& problem, const DenoiseStep& step) noexcept {
  PatchMatch matching = problem.matching(step);
  matching.max_patches = denoise_places(step);
  return matching;
}

DenoiseMemory memory_at(const backend::Slice& slice, std::size_t offset_bytes, std::size_t element_bytes) {
  return {native(slice), (slice.offset_bytes + offset_bytes) / element_bytes};
}

DenoiseFunction::DenoiseFunction(const OpenclDevice& device, const char* function, std::string_view text,
                                 const std::string& options)
    : kernel_(device.kernel({.name = function, .text = std::string(text), .options = options})) {}

std::unique_ptr<backend::Kernel> make_denoise(const Denoise& problem, backend::Device& device, const Tuning& tuning,
                                              const DenoiseStacksMaker& maker) {
  return std::make_unique<DenoiseKernel>(problem, native(device), tuning, maker);
}

backend::Verdict check_denoise(const Denoise& problem) {
  return check_groups("denoise", ceil_div(static_cast<std::uint64_t>(problem.size.product()), kLineGroup));
}

std::string denoise_options(const Denoise& problem) {
  const int type = problem.type == DataType::uint8 ? 0 : problem.type == DataType::uint16 ? 1 : 2;
  return backend::sentence("-cl-std=CL1.2 -DTYPE=", type);
}

}  // namespace tessera::opencl
