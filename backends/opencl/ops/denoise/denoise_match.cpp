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
  end_ = counts_ + to_denoise_lines(static_cast<std::size_t>(references) * sizeof(cl_int));
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
  match_.enqueue(run, round.references.product(), operands.matched, counts(run),
                 memory_at(run.workspace, distances_, size_bytes(distance_type_)), indices(run), shape);
}

DenoiseMemory DenoiseMatch::counts(const DenoiseRun& run) const {
  return memory_at(run.workspace, counts_, sizeof(cl_int));
}

DenoiseMemory DenoiseMatch::indices(const DenoiseRun& run) const {
  return memory_at(run.workspace, indices_, sizeof(cl_long));
}

}  // namespace tessera::opencl
