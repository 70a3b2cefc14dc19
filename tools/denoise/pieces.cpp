// Reaches of windows.
#include "tools/denoise/pieces.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <tessera/error.h>

namespace tessera::tool {

namespace {

std::int64_t PerAxis::*longest_axis(const PerAxis& size) {
  if (size.z >= size.y && size.z >= size.x) return &PerAxis::z;
  return size.y >= size.x ? &PerAxis::y : &PerAxis::x;
}

const DenoiseStep& step_of(const Denoise& problem) {
  return problem.stage == DenoiseStage::wiener ? problem.wiener : problem.hard;
}

}  // namespace

PieceCutter::PieceCutter(const Denoise& problem, const DenoiseStep& step)
    : axis_(longest_axis(problem.size)), planes_(problem.size.*axis_), step_(step.step.*axis_) {
  // From the first voxel of the first candidate to the last voxel of the last one are window + patch - 1 planes, and
  // the reference is among the candidates: so a voxel whose stack another plane decides about is at most this far from
  // it. One plane more may hold anything.
  reach_ = step.window.*axis_ + step.patch.*axis_ - 1;
  // So that as many references are along the axis as most_estimates() counts in the whole.
  least_ = step.patch.*axis_ + 3 * step_ + 1;
}

PieceCutter::PieceCutter(const NonlocalMeans& problem)
    : axis_(longest_axis(problem.size)), planes_(problem.size.*axis_) {
  // From a voxel to the last of its furthest candidate's patch; and one plane that may hold anything.
  reach_ = problem.window.*axis_ / 2 + problem.patch.*axis_ / 2 + 1;
}

Piece PieceCutter::cut(std::int64_t first, std::int64_t count) const {
  Piece piece;
  piece.first = std::min(first, planes() - least());
  piece.end = std::min(planes(), std::max(first + count, piece.first + least()));
  // References stand at multiples of the step, in the piece as in the whole.
  piece.held_first = std::max<std::int64_t>(0, piece.first - reach_) / step_ * step_;
  piece.held_end = std::min(planes(), piece.end + reach_);
  return piece;
}

Denoise PieceCutter::problem_of(const Piece& piece, const Denoise& whole) const {
  Denoise part = whole;
  part.size.*axis_ = piece.held_end - piece.held_first;
  if (part.most_estimates(step_of(part)) != whole.most_estimates(step_of(whole))) {
    throw Error(ErrorCode::internal,
                fmt::format("a piece of planes {} to {} of {} is denoised in other units than the whole",
                            piece.held_first, piece.held_end, planes()));
  }
  return part;
}

NonlocalMeans PieceCutter::problem_of(const Piece& piece, const NonlocalMeans& whole) const {
  NonlocalMeans part = whole;
  part.size.*axis_ = piece.held_end - piece.held_first;
  return part;
}

void fit_patches(Denoise& problem) {
  for (DenoiseStep* step : {&problem.hard, &problem.wiener}) {
    for (std::int64_t PerAxis::*axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) {
      std::int64_t& side = step->patch.*axis;
      side = std::min(side, problem.size.*axis);
      if (step->transform == PatchTransform::haar) {
        side = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(side)));
      }
    }
  }
}

}  // namespace tessera::tool
