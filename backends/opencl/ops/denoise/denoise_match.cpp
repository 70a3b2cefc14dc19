// Where the stacks of a round lie, and the launch that finds them.
#include "ops/denoise/denoise_match.h"

#include <utility>

namespace tessera::opencl {

std::size_t DenoiseMatch::reference_bytes(const DenoiseStep& step) noexcept {
  return static_cast<std::size_t>(denoise_places(step)) * (2 * sizeof(cl_long)) + sizeof(cl_int);
}

DenoiseMatch::DenoiseMatch(const DenoiseStepPlan& plan, OperatorLaunch launch, std::int64_t references,
                           std::size_t offset_bytes)
    : shape_(patch_shape(denoise_matching(plan.problem, plan.step))),
      match_(std::move(launch.kernel)),
      distance_type_(plan.problem.matching(plan.step).distance_type()),
      distances_(offset_bytes) {
  const auto places = static_cast<std::size_t>(references * denoise_places(plan.step));
  indices_ = distances_ + to_denoise_lines(places * sizeof(cl_long));
  counts_ = indices_ + to_denoise_lines(places * sizeof(cl_long));
  words_at_ = counts_ + to_denoise_lines(static_cast<std::size_t>(references) * sizeof(cl_int));
  end_ = words_at_;
}

DenoiseMatch DenoiseMatch::by_lanes(const DenoiseStepPlan& plan, std::int64_t references, std::size_t offset_bytes) {
  const PatchMatch matching = denoise_matching(plan.problem, plan.step);
  const std::optional<PatchScreen> screen = PatchScreen::of(matching, plan.device.facts());
  OperatorLaunch launch = patch_lanes_launch(matching, plan.device, screen.has_value());
  const std::size_t group = launch.range.local[0];
  DenoiseMatch match(plan, std::move(launch), references, offset_bytes);
  match.group_ = group;
  if (screen) match.screen_.emplace(Screen{*screen, matching, screen->launch(matching, plan.device)});
  const PatchWords words(matching);
  if (!words.are_needed) return match;
  match.words_ = words;
  match.end_ = match.words_at_ + to_denoise_lines(words.size_bytes);
  for (OperatorLaunch& preparation : patch_word_launches(matching, plan.device))
    match.preparations_.emplace_back(std::move(preparation.kernel));
  return match;
}

std::size_t DenoiseMatch::word_bytes(const DenoiseStepPlan& plan) {
  return to_denoise_lines(PatchWords(denoise_matching(plan.problem, plan.step)).size_bytes);
}

void DenoiseMatch::prepare(DenoiseRun& run, const DenoiseOperands& operands) const {
  if (!words_) return;
  const PatchWordShape& shape = words_->shape;
  const DenoiseMemory sums = words(run, words_->sums_at);
  preparations_[0].enqueue(run, shape.words, operands.matched, words(run, 0), shape_, shape);
  preparations_[1].enqueue(run, shape.planes, operands.matched, sums, shape_, shape);
  preparations_[2].enqueue(run, shape.norms, sums, words(run, words_->norms_at), shape_, shape);
}

void DenoiseMatch::enqueue(DenoiseRun& run, const DenoiseOperands& operands,
                           const mathematics::DenoiseRound& round) const {
  PatchShape shape = shape_;
  const std::int64_t first[] = {round.first.x, round.first.y, round.first.z};
  const std::int64_t count[] = {round.references.x, round.references.y, round.references.z};
  for (int axis = 0; axis < 3; ++axis) {
    shape.start[axis] += first[axis] * shape.step[axis];
    shape.references[axis] = count[axis];
  }
  const std::int64_t references = round.references.product();
  const DenoiseMemory distances = memory_at(run.workspace, distances_, size_bytes(distance_type_));
  if (group_ == 0)
    return match_.enqueue(run, references, operands.matched, counts(run), distances, indices(run), shape);
  if (screen_) {
    const DenoiseLocal region{screen_->tile.region_bytes()};
    screen_->function.enqueue_range(run, screen_->tile.range(round.references), operands.matched, counts(run),
                                    distances, indices(run), shape,
                                    screen_->tile.shape(screen_->matching, round.references), region);
  }
  const NdRange range{1, {mathematics::round_up(static_cast<std::size_t>(references), group_), 1, 1}, {group_, 1, 1}};
  if (!words_) return match_.enqueue_range(run, range, operands.matched, counts(run), distances, indices(run), shape);
  match_.enqueue_range(run, range, operands.matched, counts(run), distances, indices(run), words(run, 0),
                       words(run, words_->norms_at), shape, words_->shape);
}

DenoiseMemory DenoiseMatch::words(const DenoiseRun& run, std::size_t offset_bytes) const {
  return memory_at(run.workspace, words_at_ + offset_bytes, sizeof(cl_uint));
}

DenoiseMemory DenoiseMatch::counts(const DenoiseRun& run) const {
  return memory_at(run.workspace, counts_, sizeof(cl_int));
}

DenoiseMemory DenoiseMatch::indices(const DenoiseRun& run) const {
  return memory_at(run.workspace, indices_, sizeof(cl_long));
}

}  // namespace tessera::opencl
