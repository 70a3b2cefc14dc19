// denoise by columns of references: a group of threads walks along z from layer to layer, and adds estimates up in its
// own memory before they go to the volume's sums. Which steps are filtered so, and by what tiles of references.
//
//        x --->                A layer's windows reach a region of so many rows and slices. Its sums, three words a
//   y  r   r   r   r           voxel, stand in the group's memory, a ring of slices along z. What a group hands on is
//      r   r   r   r           less, the more references share a region: the tile is the largest that fits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/ops/denoise.h>

#include "mathematics/denoise_numbers.h"
#include "mathematics/denoise_tables.h"
#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::mathematics {

/// What a group may take.
struct DenoiseColumnLimits {
  std::int64_t shared_bytes = 0;
  std::int64_t most_warps = 1;
  std::int64_t fewest_warps = 1;    ///< but where there are no more references
  std::int64_t bytes_of_warp = 0;   ///< beside the sums
  std::int64_t bytes_of_group = 0;  ///< the same, however many warps
  std::int64_t voxel_bytes = 0;     ///< of a voxel whose number stands beside its sums
  std::int64_t voxels_of_word = 1;  ///< rows begin at multiples of it
  std::int64_t threads_of_patch = 1;
};

/// A group's columns in one step. A warp has 32 threads, each with a patch of 4 x 4 x 4 voxels or a part of one.
struct DenoiseColumns {
  static constexpr std::int64_t kSide = 4;
  static constexpr std::int64_t kWarp = 32;
  static constexpr std::int64_t kSumBytes = 12;

  std::int64_t tile_x = 1;  ///< references of a layer
  std::int64_t tile_y = 1;
  std::int64_t warps = 1;
  std::int64_t places = 16;      ///< of the program: 16 or 32
  std::int64_t ring = 1;         ///< slices whose sums are held
  std::int64_t voxel_ring = 1;   ///< slices that two layers, one after the other, reach
  std::int64_t row = 1;          ///< voxels from one row of the region to the next
  std::int64_t slice = 1;        ///< and from one slice to the next
  std::int64_t most_layers = 1;  ///< of a group: weights of more might not fit 32 bits
  std::int64_t shared_bytes = 0;

  /// None where the programs do not fit the step, or a region the group's memory.
  [[nodiscard]] static std::optional<DenoiseColumns> of(const Denoise& problem, const DenoiseStep& step, bool is_wiener,
                                                        const DenoiseColumnLimits& limits);

  [[nodiscard]] std::int64_t columns_x(std::int64_t references) const { return ceil_div(references, tile_x); }
  [[nodiscard]] std::int64_t columns_y(std::int64_t references) const { return ceil_div(references, tile_y); }

  /// Layers of a group, so that the last of the groups that `at_once` run together end at about one time.
  [[nodiscard]] std::int64_t layers_of_group(std::int64_t columns, std::int64_t layers, std::int64_t at_once) const {
    // A group's first layer has a whole window's slices to load and its last one as many to hand on.
    constexpr double kLayersAround = 1.5;
    std::int64_t best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t parts = 1; parts <= layers; ++parts) {
      const std::int64_t of_group = ceil_div(layers, parts);
      if (of_group > most_layers) continue;
      const std::int64_t waves = ceil_div(columns * ceil_div(layers, of_group), std::max<std::int64_t>(at_once, 1));
      const double time = static_cast<double>(waves) * (static_cast<double>(of_group) + kLayersAround);
      if (time >= least) continue;
      least = time;
      best = of_group;
    }
    return best;
  }

 private:
  /// How many of 4 x 4 x 2 neighbours meet in one of 32 banks, at most.
  [[nodiscard]] static int meetings(std::int64_t row, std::int64_t slice) {
    std::array<int, kWarp> banks{};
    for (std::int64_t voxel = 0; voxel < kWarp; ++voxel)
      ++banks[static_cast<std::size_t>((voxel / 16 * slice + voxel / 4 % 4 * row + voxel % 4) % kWarp)];
    return *std::max_element(banks.begin(), banks.end());
  }
  /// Sets rows and slices of a region, in which as few neighbours meet as can be; false if it does not fit.
  [[nodiscard]] bool set_pitches(std::int64_t extent_x, std::int64_t extent_y, const DenoiseColumnLimits& limits) {
    constexpr std::int64_t kMostVoxels = std::int64_t{1} << 20;  // far more than any group's memory holds
    if (extent_x > kMostVoxels || extent_y > kMostVoxels / extent_x || ring > kMostVoxels) return false;
    int fewest = std::numeric_limits<int>::max();
    const std::int64_t unit = limits.voxels_of_word;
    const std::int64_t narrowest = round_up(extent_x, unit);
    for (std::int64_t wide = narrowest; wide < narrowest + 8 * unit; wide += unit) {
      const std::int64_t smallest = round_up<std::int64_t>(wide * extent_y, 4);
      for (std::int64_t all = smallest; all < smallest + kWarp; all += 4) {
        const std::int64_t bytes = kSumBytes * ring * all + limits.voxel_bytes * voxel_ring * all +
                                   limits.bytes_of_warp * warps + limits.bytes_of_group;
        const int meeting = meetings(wide, all);
        if (bytes > limits.shared_bytes || meeting > fewest || (meeting == fewest && all >= slice)) continue;
        fewest = meeting;
        row = wide;
        slice = all;
        shared_bytes = bytes;
      }
    }
    return fewest < std::numeric_limits<int>::max();
  }
};

/// The matrices that the programs of columns have in their instructions.
[[nodiscard]] inline bool denoise_columns_know(const DenoiseStep& step, bool is_wiener) {
  constexpr float kDctLarge = 0.653281482438188264F;
  constexpr float kDctSmall = 0.270598050073098492F;
  constexpr float kFine = 0.70710678118654752440F;
  const std::vector<float> haar{0.5F,  0.5F,   0.5F, 0.5F, 0.5F, 0.5F, -0.5F, -0.5F,
                                kFine, -kFine, 0,    0,    0,    0,    kFine, -kFine};
  const std::vector<float> dct{0.5F, 0.5F,  0.5F,  0.5F, kDctLarge, kDctSmall,  -kDctSmall, -kDctLarge,
                               0.5F, -0.5F, -0.5F, 0.5F, kDctSmall, -kDctLarge, kDctLarge,  -kDctSmall};
  return step.patch == PerAxis{DenoiseColumns::kSide, DenoiseColumns::kSide, DenoiseColumns::kSide} &&
         denoise_matrix(step.transform, DenoiseColumns::kSide) == (is_wiener ? dct : haar);
}

inline std::optional<DenoiseColumns> DenoiseColumns::of(const Denoise& problem, const DenoiseStep& step, bool is_wiener,
                                                        const DenoiseColumnLimits& limits) {
  constexpr std::int64_t kMostMembers = 32;
  constexpr std::int64_t kMostTile = 8;
  constexpr std::int64_t kLargestSize = std::int64_t{1} << 28;  // twice a window, in 32 bits
  constexpr std::int64_t kMostApart =
      std::numeric_limits<std::int32_t>::max();  // voxels of the volume, within a region
  /// Weights of a voxel, each up to 2^20, in 32 bits.
  constexpr std::int64_t kMostWeights = (std::int64_t{1} << (32 - kDenoiseWeightBits)) - 1;
  /// Below it a threshold might tell numbers apart whose halves are not exact.
  constexpr double kLeastShrinkage = 0x1p-20;
  const auto members = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(step.max_patches)));
  if (!denoise_columns_know(step, is_wiener) || members > kMostMembers || problem.channels != 1) return std::nullopt;
  if (!(problem.shrinkage >= kLeastShrinkage && problem.matching(step).threshold >= 0)) return std::nullopt;
  if (std::max({problem.size.x, problem.size.y, problem.size.z}) > kLargestSize) return std::nullopt;
  const PatchGeometry g(problem.matching(step));
  const auto reach = [](const PatchAxis& axis, std::int64_t references) {
    return std::min((references - 1) * axis.step + axis.most_candidates() + axis.patch - 1, axis.size);
  };
  DenoiseColumns columns;
  columns.ring = reach(g.z, 1);
  columns.voxel_ring = columns.ring + g.z.step;
  columns.places = members <= 16 ? 16 : 32;
  if (columns.ring > kMostApart / problem.size.x / problem.size.y || g.z.step > columns.ring) return std::nullopt;

  std::optional<DenoiseColumns> best;
  double most_references = 0;  // of a group, in the mean
  for (columns.tile_y = 1; columns.tile_y <= kMostTile; ++columns.tile_y) {
    for (columns.tile_x = 1; columns.tile_x <= kMostTile; ++columns.tile_x) {
      const std::int64_t tile = columns.tile_x * columns.tile_y;
      columns.warps = ceil_div(tile * columns.places * limits.threads_of_patch, kWarp);
      if (columns.warps > limits.most_warps) continue;
      if (!columns.set_pitches(reach(g.x, columns.tile_x), reach(g.y, columns.tile_y), limits)) continue;
      // So many layers reach a slice, the last reference of all standing nearer to the one before.
      const std::int64_t reaching = ceil_div(columns.ring, g.z.step) + 1;
      columns.most_layers = std::max<std::int64_t>(
          reaching * tile * members <= kMostWeights ? g.z.references : kMostWeights / (tile * members), 1);
      const std::int64_t all = columns.columns_x(g.x.references) * columns.columns_y(g.y.references);
      const double references = static_cast<double>(g.x.references * g.y.references) / static_cast<double>(all);
      if (columns.warps < limits.fewest_warps && all > 1) continue;
      if (references < most_references) continue;
      if (references == most_references && best->shared_bytes <= columns.shared_bytes) continue;
      best = columns;
      most_references = references;
    }
  }
  return best;
}

}  // namespace tessera::mathematics
