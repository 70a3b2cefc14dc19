// patch_match's programs for a reference at every place: which problems are theirs, how many of the pairs that their
// groups look at are there, and which variant is expected to be fast.
#include "mathematics/patch_match_box_dense.h"
#include "mathematics/patch_match_box_choice.h"
#include "mathematics/patch_match_thread_choice.h"

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
  EXPECT_TRUE(is_patch_dense(dense_of({88, 60, 38}, {5, 7, 1})));
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

/// An H100's, with groups of 8 x 4 x 4 references.
constexpr PatchBoxCard kCard{{8, 4, 4}, 264, 132};

PatchMatch typed(PatchMatch problem, DataType type) {
  problem.type = type;
  return problem;
}

// The times are those of benchmarks/results/h100-2026-11-27-patch_match-box-{stacks-windows,stacks-halves,asked}.json.
TEST(PatchMatchBoxChoiceTest, expects_the_times_that_were_measured) {
  const auto expect_times = [](const PatchMatch& problem, double box, double packed) {
    EXPECT_NEAR(patch_box_time(problem, kCard), box, 0.25 * box);
    EXPECT_NEAR(patch_packed_time(problem, kCard), packed, 0.25 * packed);
  };
  expect_times(dense_of({88, 60, 38}, {5, 5, 5}), 119, 201);
  expect_times(dense_of({88, 60, 38}, {9, 9, 9}), 199, 737);
  expect_times(dense_of({88, 60, 38}, {11, 11, 11}), 244, 1026);
  expect_times(dense_of({352, 240, 150}, {11, 11, 11}), 14854, 66985);
  expect_times(typed(dense_of({88, 60, 38}, {5, 5, 5}), DataType::uint16), 223, 396);
  expect_times(typed(dense_of({88, 60, 38}, {9, 9, 9}), DataType::float32), 364, 950);
  expect_times(typed(dense_of({352, 240, 150}, {11, 11, 11}), DataType::float32), 25914, 77987);
}

TEST(PatchMatchBoxChoiceTest, is_taken_where_it_was_faster) {
  const auto pays = [](const PatchMatch& problem) { return why_patch_box_does_not_pay(problem, kCard).empty(); };
  EXPECT_TRUE(pays(dense_of({59, 27, 22}, {5, 5, 5})));
  EXPECT_TRUE(pays(typed(dense_of({220, 108, 9}, {5, 5, 5}), DataType::float32)));
  EXPECT_TRUE(pays(typed(dense_of({90, 91, 18}, {5, 5, 5}), DataType::uint16)));
  EXPECT_FALSE(pays(dense_of({12, 12, 12}, {5, 5, 5})));  // min_and_swap needs few groups
  EXPECT_FALSE(pays(dense_of({88, 60, 38}, {4, 5, 5})));
  PatchMatch few = dense_of({88, 60, 38}, {11, 11, 11});
  few.max_patches = 4;
  EXPECT_FALSE(pays(few));
  // Windows that no time is known of need many groups, which are full.
  EXPECT_FALSE(pays(dense_of({59, 27, 22}, {6, 5, 5})));
  EXPECT_TRUE(pays(dense_of({352, 240, 150}, {6, 5, 5})));
}

// Of an H200's 132 multiprocessors, among problems of which each variant was timed.
TEST(PatchMatchThreadChoiceTest, takes_threads_where_they_were_faster) {
  const auto pays = [](PerAxis size, PerAxis patch, PerAxis window, PerAxis step, std::int64_t kept) {
    PatchMatch problem = typed(dense_of(size, window), DataType::uint16);
    problem.patch = patch;
    problem.step = step;
    problem.max_patches = kept;
    return static_cast<double>(problem.references().product()) >= 132 * patch_thread_others(problem);
  };
  EXPECT_TRUE(pays({148, 45, 31}, {4, 4, 4}, {11, 11, 11}, {3, 3, 3}, 16));   // 231 us, min_and_swap 405
  EXPECT_TRUE(pays({305, 193, 1}, {8, 8, 1}, {39, 39, 1}, {3, 3, 1}, 57));    // 737 us, 1290
  EXPECT_FALSE(pays({445, 66, 1}, {12, 12, 1}, {25, 25, 1}, {6, 6, 1}, 16));  // 475 us, 154
  const auto bytes_pay = [](std::int64_t references) {
    return static_cast<double>(references) >= 132 * kPatchThreadBytes;
  };
  EXPECT_TRUE(bytes_pay(53820));  // 694 x 705, windows of 11 x 11: 177 us, min_and_swap 749
  EXPECT_FALSE(bytes_pay(3381));  // 247 x 347, windows of 19 x 19, 45 kept: 309 us, 181
  EXPECT_FALSE(pays({29, 42, 44}, {4, 4, 4}, {9, 9, 9}, {3, 3, 3}, 16));  // 161 us, 87
}

}  // namespace
}  // namespace tessera::mathematics
