// Columns of references: tiles cover a volume's references, their regions fit the memory, and weights fit 32 bits.
#include "mathematics/denoise_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

namespace tessera::mathematics {
namespace {

constexpr std::int64_t kWarpBytes = 4608;

Denoise problem_of(const PerAxis& size, std::int64_t window, std::int64_t step, std::int64_t places) {
  const DenoiseStep parameters{
      .patch = {4, 4, 4}, .window = {window, window, window}, .step = {step, step, step}, .max_patches = places};
  return with_profile({.size = size, .sigma = 10, .type = DataType::uint8, .hard = parameters, .wiener = parameters});
}

DenoiseColumnLimits limits_of(std::int64_t bytes, std::int64_t volumes, std::int64_t threads_of_patch = 1) {
  return {.shared_bytes = bytes,
          .most_warps = 16,
          .fewest_warps = 6,
          .bytes_of_warp = kWarpBytes,
          .bytes_of_group = 4 * volumes,
          .voxel_bytes = volumes,
          .voxels_of_word = 4,
          .threads_of_patch = threads_of_patch};
}

/// What the kernels rely on.
void expect_sound(const Denoise& problem, const DenoiseStep& step, const DenoiseColumns& columns,
                  const DenoiseColumnLimits& limits) {
  const PerAxis all = problem.matching(step).references();
  const PatchGeometry g(problem.matching(step));
  // A tile's windows, wherever it stands, and so a layer's.
  for (std::int64_t first = 0; first < all.x; first += columns.tile_x) {
    const std::int64_t last = std::min(first + columns.tile_x, all.x) - 1;
    const std::int64_t end = g.x.end_of_candidates(g.x.place(last)) - 1 + g.x.patch;
    EXPECT_LE(end - g.x.first_candidate(g.x.place(first)), columns.row);
  }
  for (std::int64_t first = 0; first < all.y; first += columns.tile_y) {
    const std::int64_t last = std::min(first + columns.tile_y, all.y) - 1;
    const std::int64_t end = g.y.end_of_candidates(g.y.place(last)) - 1 + g.y.patch;
    EXPECT_LE((end - g.y.first_candidate(g.y.place(first))) * columns.row, columns.slice);
  }
  std::int64_t most_layers_of_slice = 0;
  for (std::int64_t z = 0; z < all.z; ++z) {
    const std::int64_t first = g.z.first_candidate(g.z.place(z));
    const std::int64_t end = g.z.end_of_candidates(g.z.place(z)) - 1 + g.z.patch;
    EXPECT_LE(end - first, columns.ring);
    if (z + 1 < all.z) {
      const std::int64_t next = g.z.place(z + 1);
      EXPECT_LE(g.z.end_of_candidates(next) - 1 + g.z.patch - first, columns.voxel_ring);
      EXPECT_LE(g.z.first_candidate(next), end) << "slices between two layers would be in neither";
    }
    std::int64_t layers = 0;
    for (std::int64_t other = z; other < all.z && g.z.first_candidate(g.z.place(other)) < end; ++other) ++layers;
    most_layers_of_slice = std::max(most_layers_of_slice, layers);
  }
  const auto members = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(step.max_patches)));
  const std::int64_t layers = std::min(most_layers_of_slice, columns.most_layers);
  EXPECT_LT(columns.tile_x * columns.tile_y * members * layers << kDenoiseWeightBits, std::int64_t{1} << 32);
  EXPECT_GE(columns.warps * DenoiseColumns::kWarp,
            columns.tile_x * columns.tile_y * columns.places * limits.threads_of_patch);
  EXPECT_LE(columns.warps, limits.most_warps);
  EXPECT_EQ(columns.row % limits.voxels_of_word, 0);
  EXPECT_EQ(columns.slice % 4, 0);
  EXPECT_LE(columns.shared_bytes, limits.shared_bytes);
  EXPECT_EQ(columns.shared_bytes, 12 * columns.ring * columns.slice + kWarpBytes * columns.warps +
                                      limits.voxel_bytes * columns.voxel_ring * columns.slice + limits.bytes_of_group);
}

TEST(DenoiseColumnsTest, fit_their_memory_and_cover_their_windows) {
  int found = 0;
  for (const PerAxis size : {PerAxis{352, 240, 150}, PerAxis{64, 64, 64}, PerAxis{40, 45, 19}, PerAxis{4, 4, 4}}) {
    for (const std::int64_t window : {1, 5, 11, 15, 1000}) {
      for (const std::int64_t step : {1, 2, 3, 7}) {
        for (const std::int64_t places : {1, 16, 17, 32}) {
          for (const std::int64_t bytes : {49152, 101376, 232448}) {
            const Denoise problem = problem_of(size, window, step, places);
            for (const std::int64_t threads : {1, 4}) {
              const DenoiseColumnLimits limits = limits_of(bytes, 2, threads);
              const auto columns = DenoiseColumns::of(problem, problem.hard, false, limits);
              if (!columns) continue;
              SCOPED_TRACE(::testing::Message()
                           << "size " << size.x << " window " << window << " step " << step << " places " << places
                           << " bytes " << bytes << " threads of a patch " << threads);
              expect_sound(problem, problem.hard, *columns, limits);
              ++found;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found, 100);
}

TEST(DenoiseColumnsTest, have_no_bank_with_two_neighbours_where_there_is_room) {
  const Denoise problem = problem_of({352, 240, 150}, 11, 3, 16);
  const auto columns = DenoiseColumns::of(problem, problem.hard, false, limits_of(232448, 1));
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->tile_x * columns->tile_y, 32);
  std::uint32_t banks = 0;
  for (std::int64_t voxel = 0; voxel < 32; ++voxel)
    banks |= 1U << (voxel / 16 * columns->slice + voxel / 4 % 4 * columns->row + voxel % 4) % 32;
  EXPECT_EQ(banks, 0xffffffffU);
}

TEST(DenoiseColumnsTest, are_not_for_other_patches_transforms_and_stacks) {
  const DenoiseColumnLimits limits = limits_of(232448, 1);
  const Denoise problem = problem_of({64, 64, 64}, 11, 3, 16);
  EXPECT_TRUE(DenoiseColumns::of(problem, problem.hard, false, limits));
  EXPECT_TRUE(DenoiseColumns::of(problem, problem.wiener, true, limits));
  EXPECT_FALSE(DenoiseColumns::of(problem, problem.wiener, false, limits)) << "the DCT where Haar's is";
  Denoise other = problem;
  other.hard.patch = {4, 4, 3};
  EXPECT_FALSE(DenoiseColumns::of(other, other.hard, false, limits));
  other = problem;
  other.hard.max_patches = 64;
  EXPECT_FALSE(DenoiseColumns::of(other, other.hard, false, limits));
  other = problem;
  other.channels = 3;
  EXPECT_FALSE(DenoiseColumns::of(other, other.hard, false, limits));
  other = problem;
  other.shrinkage = 1e-9;
  EXPECT_FALSE(DenoiseColumns::of(other, other.hard, false, limits));
  other = problem;
  other.hard.step.z = 30;
  EXPECT_FALSE(DenoiseColumns::of(other, other.hard, false, limits));
}

TEST(DenoiseColumnsTest, of_a_round_end_together) {
  const Denoise problem = problem_of({352, 240, 150}, 11, 3, 16);
  const auto columns = DenoiseColumns::of(problem, problem.hard, false, limits_of(232448, 1));
  ASSERT_TRUE(columns);
  for (const std::int64_t layers : {1, 2, 27, 50}) {
    const std::int64_t of_group = columns->layers_of_group(300, layers, 132);
    EXPECT_GE(of_group, 1);
    EXPECT_LE(of_group, std::min(layers, columns->most_layers));
  }
  EXPECT_EQ(columns->layers_of_group(132, 50, 132), 50);  // one wave
}

}  // namespace
}  // namespace tessera::mathematics
