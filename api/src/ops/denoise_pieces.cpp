// Reaches of windows along an axis, and pieces between them.
#include <tessera/ops/denoise_pieces.h>

#include <algorithm>
#include <cstdint>

#include "../boundary.h"
#include "../refuse.h"
#include "backend/sentence.h"
#include "denoise_check.h"

namespace tessera {

using backend::sentence;

namespace {

const DenoiseStep& step_of(const Denoise& problem) noexcept {
  return problem.stage == DenoiseStage::wiener ? problem.wiener : problem.hard;
}

Denoise checked_for_pieces(const Denoise& problem, const std::int64_t PerAxis::*axis, std::int64_t planes) {
  return detail::at_boundary([&] {
    if (axis == nullptr) detail::refuse("the axis of pieces of denoise is null, but must be that of x, y or z");
    if (planes < 1) detail::refuse(sentence("planes of pieces of denoise is ", planes, ", but must be at least 1"));
    return detail::checked_denoise(problem);
  });
}

}  // namespace

DenoisePieces::DenoisePieces(const Denoise& problem, std::int64_t PerAxis::*axis, std::int64_t planes)
    : whole_(checked_for_pieces(problem, axis, planes)), axis_(axis) {
  const std::int64_t all = this->planes();
  if (whole_.sigma == 0) {
    // A copy. Pieces are problems nevertheless, which have room for a patch.
    for (const DenoiseStep* step : {&whole_.hard, &whole_.wiener}) {
      if (whole_.has(step == &whole_.hard ? DenoiseStage::hard_threshold : DenoiseStage::wiener))
        least_ = std::max(least_, step->patch.*axis);
    }
  } else {
    const DenoiseStep& step = step_of(whole_);
    // Those beyond the volume would overflow; twice the volume reaches as far as anything.
    const std::int64_t window = std::min(step.window.*axis, 2 * all);
    step_ = std::min(step.step.*axis, all);
    // A reference is one of its own candidates. From the first voxel of its first one to the last voxel of its last one
    // there are window + patch - 1 planes, so a plane that decides about a voxel is nearer to it than that.
    reach_ = window + step.patch.*axis - 1;
    // As many references along the axis as Denoise::most_estimates() counts: then a piece has the whole's units.
    least_ = std::min(step.patch.*axis + step_ + 1, all);
  }
  const std::int64_t wanted = (all - 1) / planes + 1;
  count_ = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(all / least_, 1));
  if (count_ == 1 || whole_.stage != DenoiseStage::both || whole_.sigma == 0) return;
  detail::at_boundary([&] {
    detail::refuse(sentence("stage of denoise is both, but pieces of ", planes, " of ", all,
                            " planes are those of one step: hard_threshold or wiener"));
  });
}

DenoisePiece DenoisePieces::piece(std::int64_t number) const noexcept {
  const std::int64_t each = planes() / count_;
  const std::int64_t longer = planes() % count_;  // so many have one plane more
  return cut(number * each + std::min(number, longer), each + (number < longer ? 1 : 0));
}

DenoisePiece DenoisePieces::cut(std::int64_t first, std::int64_t own) const noexcept {
  DenoisePiece piece;
  piece.first = std::clamp<std::int64_t>(first, 0, planes() - least_);
  piece.end = piece.first + std::clamp(own, least_, planes() - piece.first);
  // References stand at multiples of the step, in the piece as in the whole.
  piece.held_first = std::max<std::int64_t>(piece.first - reach_, 0) / step_ * step_;
  piece.held_end = planes() - piece.end <= reach_ ? planes() : piece.end + reach_;
  return piece;
}

std::int64_t DenoisePieces::most_held() const noexcept {
  std::int64_t most = 0;
  for (std::int64_t number = 0; number < count_; ++number) most = std::max(most, piece(number).held());
  return most;
}

Denoise DenoisePieces::problem_of(const DenoisePiece& piece) const {
  Denoise problem = whole_;
  problem.size.*axis_ = piece.held();
  return problem;
}

std::int64_t DenoisePieces::spare_plane(const DenoisePiece& piece) const noexcept {
  if (piece.held() == planes()) return -1;
  return piece.held_first > 0 ? 0 : piece.held() - 1;
}

}  // namespace tessera
