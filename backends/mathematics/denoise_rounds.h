// denoise on devices whose memory does not hold all of a step at once: which references a round filters, and which part
// of the volume has sums meanwhile.
//
//   slices of the axis   0 1 2 3 4 5 6 7 8 9 ...      Sums stand for `ring` slices along an axis, slice i at place
//   round 0              c c c c c c                  i modulo ring. Slices that a round's stacks reach for the first
//                        f f                          time are cleared before it (c), those that no later one reaches
//   round 1                  . . . . c c              are finished after it (f): their voxels are written, and their
//                            f f                      places serve others.
//
// A slab, some lines of references along the axis, is one round, or several where its stacks take too much memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <tessera/ops/denoise.h>

#include "mathematics/denoise_numbers.h"
#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::mathematics {

/// Bytes of the two sums of a voxel and channel.
inline constexpr std::int64_t kDenoiseSumBytes = 16;
/// Of the sums that are held at once, where the least slab does not need more.
inline constexpr double kUsualDenoiseSumsBytes = 256 << 20;

/// Slices [first, end).
struct SliceRange {
  std::int64_t first = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t count() const noexcept { return end - first; }
};

struct DenoiseRound {
  PerAxis first;       ///< of its references, along each axis
  PerAxis references;  ///< so many
  SliceRange cleared;  ///< before it
  SliceRange finished;
  std::int64_t end_of_sums = 0;  ///< finished slices from here on are reached by no stack
};

/// The axis along which slabs lie: the last one with several references, but never x.
[[nodiscard]] constexpr std::int64_t PerAxis::*denoise_slab_axis(const PerAxis& references) noexcept {
  return references.z > 1 ? &PerAxis::z : &PerAxis::y;
}

struct DenoiseRounds {
  /// With so many lines of references a slab, and at most so many references a round.
  DenoiseRounds(const Denoise& problem, const DenoiseStep& step, std::int64_t lines, std::int64_t most_references) {
    const PatchMatch matching = problem.matching(step);
    const PatchGeometry geometry(matching);
    const PerAxis all = matching.references();
    axis = denoise_slab_axis(all);
    const PatchAxis& along = axis == &PerAxis::z ? geometry.z : geometry.y;
    const auto first_slice = [&](std::int64_t line) { return along.first_candidate(along.place(line)); };
    const auto end_of_slices = [&](std::int64_t line) {
      return along.end_of_candidates(along.place(line)) - 1 + along.patch;
    };
    lines = std::clamp<std::int64_t>(lines, 1, all.*axis);
    std::int64_t end_of_cleared = 0;
    for (std::int64_t line = 0; line < all.*axis; line += lines) {
      const std::int64_t end = std::min(line + lines, all.*axis);
      const SliceRange reached{first_slice(line), end_of_slices(end - 1)};
      ring = std::max(ring, reached.count());
      PerAxis first{0, 0, 0};
      PerAxis count = all;
      first.*axis = line;
      count.*axis = end - line;
      const std::size_t from = rounds.size();
      cut(first, count, most_references);
      rounds[from].cleared = {std::max(end_of_cleared, reached.first), reached.end};
      end_of_cleared = reached.end;
      rounds.back().finished = {reached.first, end == all.*axis ? along.size : first_slice(end)};
      rounds.back().end_of_sums = reached.end;
    }
    held = problem.size;
    held.*axis = ring;
    for (const DenoiseRound& round : rounds) {
      most_references_of_round = std::max(most_references_of_round, round.references.product());
      most_slices = std::max({most_slices, round.cleared.count(), round.finished.count()});
    }
  }

  std::vector<DenoiseRound> rounds;
  std::int64_t PerAxis::*axis = &PerAxis::y;
  std::int64_t ring = 1;
  PerAxis held;  ///< voxels whose sums are held: the volume, but along the axis the ring
  std::int64_t most_references_of_round = 0;
  std::int64_t most_slices = 0;  ///< that are cleared or finished at a time

 private:
  /// Adds rounds for a box of references.
  void cut(const PerAxis& first, const PerAxis& count, std::int64_t most) {
    const auto part = [](std::int64_t whole, std::int64_t fitting) {
      return std::clamp<std::int64_t>(fitting, 1, whole);
    };
    const PerAxis piece{part(count.x, most), part(count.y, most / count.x), part(count.z, most / count.x / count.y)};
    for (std::int64_t z = 0; z < count.z; z += piece.z) {
      for (std::int64_t y = 0; y < count.y; y += piece.y) {
        for (std::int64_t x = 0; x < count.x; x += piece.x)
          rounds.push_back({.first = {first.x + x, first.y + y, first.z + z},
                            .references = {std::min(piece.x, count.x - x), std::min(piece.y, count.y - y),
                                           std::min(piece.z, count.z - z)},
                            .cleared = {},
                            .finished = {}});
      }
    }
  }
};

/// Lines of references a slab whose sums take a usual amount of memory.
[[nodiscard]] inline std::int64_t usual_denoise_lines(const Denoise& problem) noexcept {
  double lines = static_cast<double>(problem.size.x + problem.size.y + problem.size.z);
  for (const DenoiseStep* step : {&problem.hard, &problem.wiener}) {
    if (!problem.has(step == &problem.hard ? DenoiseStage::hard_threshold : DenoiseStage::wiener)) continue;
    const std::int64_t PerAxis::*const axis = denoise_slab_axis(problem.matching(*step).references());
    const double line_bytes = static_cast<double>(problem.size.product() / (problem.size.*axis) * problem.channels) *
                              static_cast<double>(kDenoiseSumBytes);
    // Each by itself: a window may be as large as any number.
    const double reach = static_cast<double>(step->window.*axis) + static_cast<double>(step->patch.*axis);
    lines = std::min(lines, (kUsualDenoiseSumsBytes / line_bytes - reach) / static_cast<double>(step->step.*axis));
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(lines), 1);
}

/// "slab": lines of references, along the last axis that has several, between two moves of the sums.
[[nodiscard]] inline Tunable denoise_slab_tunable(const Denoise& problem) {
  const std::int64_t usual = usual_denoise_lines(problem);
  Tunable slab{.name = "slab",
               .meaning = "lines of references along the last axis whose sums are held at once",
               .values = {1, 2, 5},
               .preferred = usual > 5 ? usual : 1};
  if (usual > slab.values.back()) slab.values.push_back(usual);
  return slab;
}

/// Numbers that a device would need doubles for: of each exponent that a volume may have, and each channel, the
/// threshold and the variance.
[[nodiscard]] inline std::vector<float> denoise_scales(const Denoise& problem, const DenoiseStep& step) {
  std::vector<float> scales;
  for (int exponent = kLeastDenoiseExponent; exponent <= kMostDenoiseExponent; ++exponent) {
    const DenoiseNumbers numbers(problem, step, exponent);
    for (std::int64_t channel = 0; channel < problem.channels; ++channel) {
      scales.push_back(numbers.threshold(problem, channel));
      scales.push_back(numbers.variance(problem, channel));
    }
  }
  return scales;
}

}  // namespace tessera::mathematics
