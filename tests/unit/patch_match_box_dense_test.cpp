// patch_match's programs for a reference at every place: which problems are theirs, and how many of the pairs that
// their groups look at are there.
#include "mathematics/patch_match_box_dense.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tessera::mathematics {
namespace {

PatchMatch dense_of(const PerAxis& size, const PerAxis& window) {
  return {.size = size,
          .patch = {4, 4, 4},
          .window = window,
          .step = {1, 1, 1},
          .max_patches = 16,
          .type = DataType::uint8};
}

std::int64_t counted_pairs(const PatchAxis& axis) {
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < axis.references; ++i) {
    const std::int64_t place = axis.place(i);
    pairs += axis.end_of_candidates(place) - axis.first_candidate(place);
  }
  return pairs;
}

TEST(PatchMatchBoxDenseTest, counts_the_pairs_of_an_axis) {
  for (std::int64_t size = 4; size < 40; ++size) {
    for (std::int64_t window = 1; window <= kPatchDenseWindow; ++window) {
      const PatchGeometry g(dense_of({size, 4, 4}, {window, 1, 1}));
      EXPECT_EQ(patch_pairs_along(g.x), counted_pairs(g.x)) << "size " << size << ", window " << window;
    }
  }
}

TEST(PatchMatchBoxDenseTest, counts_the_pairs_of_a_slab) {
  PatchMatch problem = dense_of({20, 20, 60}, {11, 11, 11});
  problem.slab = {.first_slice = 20, .slices = 24, .first_reference = 25, .references = 10};
  const PatchGeometry g(problem);
  EXPECT_EQ(g.z.references, 10);
  EXPECT_EQ(patch_pairs_along(g.z), counted_pairs(g.z));
}

TEST(PatchMatchBoxDenseTest, knows_its_problems) {
  const PatchMatch dense = dense_of({88, 60, 38}, {11, 11, 11});
  EXPECT_TRUE(is_patch_dense(dense));
  EXPECT_TRUE(is_patch_window_whole(dense));
  EXPECT_TRUE(is_patch_dense(dense_of({88, 60, 38}, {5, 7, 1})));
  EXPECT_FALSE(is_patch_window_whole(dense_of({88, 60, 38}, {11, 11, 10})));
  PatchMatch other = dense;
  other.step = {1, 2, 1};
  EXPECT_FALSE(is_patch_dense(other));
  other = dense;
  other.patch = {4, 4, 3};
  EXPECT_FALSE(is_patch_dense(other));
  other = dense;
  other.max_patches = 17;
  EXPECT_FALSE(is_patch_dense(other));
  EXPECT_FALSE(is_patch_dense(dense_of({88, 60, 38}, {11, 12, 11})));
}

TEST(PatchMatchBoxDenseTest, tells_how_full_groups_are) {
  // Far from the volume's ends all pairs are there: of a large one nearly all are.
  EXPECT_GT(patch_dense_percent(dense_of({1003, 1003, 1003}, {11, 11, 11}), {4, 4, 4}), 98);
  EXPECT_LT(patch_dense_percent(dense_of({1003, 1003, 1003}, {11, 11, 11}), {4, 4, 4}), 100);
  // One reference of 64 with one candidate of 11 along each axis.
  EXPECT_DOUBLE_EQ(patch_dense_percent(dense_of({4, 4, 4}, {2, 2, 2}), {4, 4, 4}), 100.0 / 64 / 8);
}

}  // namespace
}  // namespace tessera::mathematics
