// The frame of both steps: scale, what is matched, round after round of stacks, and sums that become voxels.
#include "ops/denoise/denoise_launch.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_embedded.h"
#include "cuda_table.h"
#include "mathematics/denoise_tables.h"

namespace tessera::cuda {

namespace {

using backend::sentence;

static_assert(kDenoiseLeastExponent == mathematics::kLeastDenoiseExponent &&
              kDenoiseMostExponent == mathematics::kMostDenoiseExponent);

/// Threads that look for the largest voxel, each in strides.
constexpr std::int64_t kLookers = 1 << 16;

DenoiseArguments arguments_of(const DenoiseStepPlan& plan, const mathematics::DenoiseRounds& rounds) {
  const mathematics::DenoiseNumbers numbers(plan.problem, plan.step, 0);
  const auto fill = [](std::int64_t(&to)[3], const PerAxis& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  DenoiseArguments arguments{};
  fill(arguments.size, plan.problem.size);
  fill(arguments.patch, plan.step.patch);
  fill(arguments.held, rounds.held);
  arguments.places = denoise_places(plan.step);
  arguments.channels = plan.problem.channels;
  arguments.axis = rounds.axis == &PerAxis::z ? 2 : 1;
  arguments.has_basic = plan.is_wiener ? 1 : 0;
  arguments.fraction_bits = numbers.fraction_bits();
  arguments.place_bits = std::countr_zero(static_cast<std::uint64_t>(arguments.places));
  arguments.units = numbers.units();
  arguments.most_units = numbers.most_units();
  return arguments;
}

/// Matrices, window, thresholds and variances, as denoise_volume.cuh finds them.
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

  std::size_t largest;
  std::size_t mean;
  std::size_t sums;
  std::size_t stacks;
};

/// One step.
class StepKernel {
 public:
  /// With memory in the workspace from `begin` on.
  StepKernel(const DenoiseStepPlan& plan, const DenoiseStacksMaker& maker, std::size_t begin)
      : problem_(plan.problem),
        table_(plan.device, table_of(plan)),
        rounds_(plan.problem, plan.step, plan.tuning.at("slab"),
                static_cast<std::int64_t>(std::max<std::size_t>(maker.round_bytes / maker.reference_bytes(plan), 1))),
        layout_(plan.problem, rounds_, begin),
        arguments_(arguments_of(plan, rounds_)),
        begin_(function(plan, "begin")),
        largest_(function(plan, "largest")),
        mean_(function(plan, sentence("mean_", to_string(problem_.type)))),
        clear_(function(plan, "clear")),
        finish_(function(plan, sentence("finish_", to_string(problem_.type)))),
        stacks_(maker.make(plan, rounds_.most_references_of_round)) {
    arguments_.table = table_.begin<float>();
  }

  [[nodiscard]] std::size_t end_of_workspace() const noexcept { return layout_.stacks + stacks_->workspace_bytes(); }
  [[nodiscard]] std::size_t table_bytes() const noexcept { return table_.size_bytes(); }

  void enqueue(backend::Queue& queue, const void* volume, const void* basic, void* result,
               const backend::Slice& workspace) const {
    const std::int64_t voxels = problem_.size.product();
    DenoiseArguments arguments = arguments_;
    arguments.volume = volume;
    arguments.basic = basic;
    arguments.source = basic;
    arguments.result = result;
    arguments.mean = pointer_at<void>(workspace, layout_.mean);
    arguments.largest = pointer_at<std::uint32_t>(workspace, layout_.largest);
    arguments.sums = pointer_at<std::uint64_t>(workspace, layout_.sums);
    if (problem_.type == DataType::float32) {
      begin_.enqueue(queue, arguments, denoise_line(1));
      largest_.enqueue(queue, arguments, denoise_line(std::min(voxels * problem_.channels, kLookers)));
    }
    const bool is_colour = problem_.channels == 3;
    if (is_colour) mean_.enqueue(queue, arguments, denoise_line(voxels));
    const void* const matched = is_colour ? arguments.mean : basic;
    const backend::Slice of_stacks = rest_of(workspace, layout_.stacks);
    stacks_->prepare(queue, matched, of_stacks);
    const std::int64_t slice = voxels / (problem_.size.*rounds_.axis);
    const auto over_slices = [&](const CudaFunction& function, const mathematics::SliceRange& range) {
      if (range.count() <= 0) return;
      arguments.first_slice = range.first;
      arguments.end_slice = range.end;
      function.enqueue(queue, arguments, denoise_line(range.count() * slice));
    };
    for (const mathematics::DenoiseRound& round : rounds_.rounds) {
      arguments.references = round.references.product();
      arguments.end_of_sums = round.end_of_sums;
      over_slices(clear_, round.cleared);
      stacks_->enqueue(queue, matched, round, arguments, of_stacks);
      over_slices(finish_, round.finished);
    }
  }

 private:
  static CudaFunction function(const DenoiseStepPlan& plan, const std::string& name) {
    return {plan.device.context(), embedded::denoise_frame, "tessera_denoise_" + name, LaunchGrid()};
  }

  const Denoise& problem_;
  CudaTable table_;
  mathematics::DenoiseRounds rounds_;
  StepLayout layout_;
  DenoiseArguments arguments_;
  CudaFunction begin_;
  CudaFunction largest_;
  CudaFunction mean_;
  CudaFunction clear_;
  CudaFunction finish_;
  std::unique_ptr<DenoiseStacks> stacks_;
};

/// Both steps, or one. The basic estimate of both stands at the workspace's begin.
class DenoiseKernel final : public backend::Kernel {
 public:
  DenoiseKernel(const Denoise& problem, CudaDevice& device, const Tuning& tuning, const DenoiseStacksMaker& maker)
      : problem_(problem) {
    if (problem_.sigma == 0) return;
    const std::size_t begin = problem_.stage == DenoiseStage::both ? to_denoise_lines(volume_bytes()) : 0;
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
    const void* const volume = pointer_to<const void>(operands[0]);
    void* const result = pointer_to<void>(operands[2]);
    const void* basic = wiener_ && !hard_ ? pointer_to<const void>(operands[1]) : nullptr;
    if (hard_) {
      void* const estimate = wiener_ ? pointer_to<void>(workspace) : result;
      hard_->enqueue(queue, volume, volume, estimate, workspace);
      basic = estimate;
    }
    if (wiener_) wiener_->enqueue(queue, volume, basic, result, workspace);
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

LaunchGrid denoise_line(std::int64_t threads) noexcept {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(mathematics::ceil_div<std::int64_t>(threads, kDenoiseThreads));
  grid.group_size[0] = kDenoiseThreads;
  return grid;
}

std::unique_ptr<backend::Kernel> make_denoise(const Denoise& problem, backend::Device& device, const Tuning& tuning,
                                              const DenoiseStacksMaker& maker) {
  return std::make_unique<DenoiseKernel>(problem, native(device), tuning, maker);
}

backend::Verdict check_denoise(const Denoise& problem, const backend::Device& device) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  const std::int64_t groups = mathematics::ceil_div<std::int64_t>(problem.size.product(), kDenoiseThreads);
  if (static_cast<std::uint64_t>(groups) <= limit) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("denoise takes ", groups, " groups, but a launch has at most ", limit));
}

}  // namespace tessera::cuda
