// Reaches of windows.
#include "tools/denoise/pieces.h"

#include <algorithm>
#include <bit>

namespace tessera::tool {

std::int64_t PerAxis::*longest_axis(const PerAxis& size) {
  if (size.z >= size.y && size.z >= size.x) return &PerAxis::z;
  return size.y >= size.x ? &PerAxis::y : &PerAxis::x;
}

MeansPieces::MeansPieces(const NonlocalMeans& problem) : whole_(problem), axis_(longest_axis(problem.size)) {
  // From a voxel to the last of its furthest candidate's patch; and one plane that may hold anything.
  reach_ = problem.window.*axis_ / 2 + problem.patch.*axis_ / 2 + 1;
}

DenoisePiece MeansPieces::cut(std::int64_t first, std::int64_t own) const noexcept {
  const std::int64_t end = std::min(planes(), first + own);
  return {.first = first,
          .end = end,
          .held_first = std::max<std::int64_t>(first - reach_, 0),
          .held_end = std::min(planes(), end + reach_)};
}

NonlocalMeans MeansPieces::problem_of(const DenoisePiece& piece) const {
  NonlocalMeans part = whole_;
  part.size.*axis_ = piece.held();
  return part;
}

std::int64_t MeansPieces::spare_plane(const DenoisePiece& piece) const noexcept {
  if (piece.held() == planes()) return -1;
  return piece.held_first > 0 ? 0 : piece.held() - 1;
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
