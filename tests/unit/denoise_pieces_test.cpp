// How denoise is cut into pieces, held against the definition plane by plane: every stack that reaches a piece's own
// planes is there as the whole volume has it, no other one reaches them, and pieces count in the whole's units.
#include <tessera/ops/denoise_pieces.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "expect_error.h"
#include "mathematics/denoise_numbers.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera {
namespace {

/// A column along z of one step, with a patch, window and step of so many.
Denoise column(std::int64_t size, std::int64_t patch, std::int64_t window, std::int64_t step,
               DenoiseStage stage = DenoiseStage::hard_threshold) {
  const DenoiseStep parameters{
      .patch = {1, 1, patch}, .window = {1, 1, window}, .step = {1, 1, step}, .transform = PatchTransform::dct};
  return {.size = {3, 2, size}, .sigma = 1, .stage = stage, .hard = parameters, .wiener = parameters};
}

/// A reference's place and candidates, from the first to the one behind the last, in planes of the volume.
using Stack = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

/// Those of a problem whose patches reach planes [first, end), when its first plane is number `held_first`.
std::set<Stack> stacks_that_reach(const Denoise& problem, std::int64_t held_first, std::int64_t first,
                                  std::int64_t end) {
  const mathematics::PatchAxis axis = mathematics::PatchGeometry(problem.matching(problem.hard)).z;
  std::set<Stack> stacks;
  for (std::int64_t reference = 0; reference < axis.references; ++reference) {
    const std::int64_t place = axis.place(reference);
    const std::int64_t from = held_first + axis.first_candidate(place), to = held_first + axis.end_of_candidates(place);
    if (from < end && to - 1 + axis.patch > first) stacks.insert({held_first + place, from, to});
  }
  return stacks;
}

void expect_sound(const DenoisePieces& pieces, const DenoisePiece& piece) {
  SCOPED_TRACE(::testing::Message() << "planes " << piece.first << " to " << piece.end << ", held " << piece.held_first
                                    << " to " << piece.held_end);
  ASSERT_TRUE(0 <= piece.held_first && piece.held_first <= piece.first && piece.first < piece.end &&
              piece.end <= piece.held_end && piece.held_end <= pieces.planes());
  EXPECT_GE(piece.own(), pieces.least());
  EXPECT_LE(piece.first - piece.held_first, pieces.margin());
  EXPECT_LE(piece.held_end - piece.end, pieces.margin());
  const Denoise& whole = pieces.whole();
  const Denoise part = pieces.problem_of(piece);
  const std::set<Stack> stacks = stacks_that_reach(part, piece.held_first, piece.first, piece.end);
  EXPECT_EQ(stacks, stacks_that_reach(whole, 0, piece.first, piece.end));
  EXPECT_EQ(part.most_estimates(part.hard), whole.most_estimates(whole.hard));
  EXPECT_EQ(mathematics::DenoiseNumbers(part, part.hard, 8).value_bits,
            mathematics::DenoiseNumbers(whole, whole.hard, 8).value_bits);
  const std::int64_t spare = pieces.spare_plane(piece);
  EXPECT_EQ(spare < 0, piece.held() == pieces.planes());
  if (spare < 0) return;
  ASSERT_LT(spare, piece.held());
  for (const auto& [place, from, to] : stacks) {
    EXPECT_FALSE(from <= piece.held_first + spare && piece.held_first + spare < to - 1 + whole.hard.patch.z)
        << "the reference at " << place << " sees the spare plane";
  }
}

TEST(DenoisePiecesTest, every_stack_is_there_as_the_whole_has_it) {
  for (const std::int64_t size : {23, 60, 61}) {
    for (const std::int64_t patch : {1, 2, 4, 7}) {
      for (const std::int64_t window : {1, 2, 5, 8, 200}) {
        for (const std::int64_t step : {1, 2, 3, 5, 11, 100}) {
          SCOPED_TRACE(::testing::Message()
                       << size << " planes, patch " << patch << ", window " << window << ", step " << step);
          for (std::int64_t own = 1; own <= size; own = own * 3 / 2 + 1) {
            const DenoisePieces pieces(column(size, patch, window, step), &PerAxis::z, own);
            std::int64_t next = 0, most = 0;
            for (std::int64_t number = 0; number < pieces.count(); ++number) {
              const DenoisePiece piece = pieces.piece(number);
              EXPECT_EQ(piece.first, next) << "each plane is one piece's own";
              expect_sound(pieces, piece);
              EXPECT_LE(piece.own(), std::max(own, 2 * pieces.least() - 1));
              next = piece.end;
              most = std::max(most, piece.held());
            }
            EXPECT_EQ(next, size);
            EXPECT_EQ(pieces.most_held(), most);
            for (const std::int64_t first : {std::int64_t{0}, size / 3, size - 1})
              expect_sound(pieces, pieces.cut(first, own));
          }
        }
      }
    }
  }
}

TEST(DenoisePiecesTest, pieces_are_nearly_equal) {
  const DenoisePieces pieces(column(100, 4, 15, 2), &PerAxis::z, 30);
  EXPECT_EQ(pieces.count(), 4);
  EXPECT_EQ(pieces.piece(0), (DenoisePiece{0, 25, 0, 43}));
  EXPECT_EQ(pieces.piece(1), (DenoisePiece{25, 50, 6, 68}));  // 25 - 18 is 7, and references stand at even planes
  EXPECT_EQ(pieces.piece(2), (DenoisePiece{50, 75, 32, 93}));
  EXPECT_EQ(pieces.piece(3), (DenoisePiece{75, 100, 56, 100}));
  EXPECT_EQ(pieces.margin(), 19);
  EXPECT_EQ(pieces.least(), 7);
  EXPECT_EQ(pieces.most_held(), 62);
  EXPECT_EQ(pieces.problem_of(pieces.piece(1)).size, (PerAxis{3, 2, 62}));
  EXPECT_EQ(DenoisePieces(column(100, 4, 15, 2), &PerAxis::z, 33).piece(3).own(), 25);
  EXPECT_EQ(DenoisePieces(column(100, 4, 15, 2), &PerAxis::z, 34).count(), 3);
}

TEST(DenoisePiecesTest, a_step_is_cut_by_its_own_parameters) {
  Denoise problem = column(100, 4, 15, 2);
  problem.wiener.window.z = 5;
  EXPECT_EQ(DenoisePieces(problem, &PerAxis::z, 10).margin(), 19);
  problem.stage = DenoiseStage::wiener;
  EXPECT_EQ(DenoisePieces(problem, &PerAxis::z, 10).margin(), 9);
}

TEST(DenoisePiecesTest, any_axis_can_be_cut) {
  Denoise problem{.size = {90, 80, 70}, .sigma = 1, .stage = DenoiseStage::wiener};
  for (const auto axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) {
    const DenoisePieces pieces(problem, axis, 20);
    const Denoise part = pieces.problem_of(pieces.piece(1));
    PerAxis size = problem.size;
    size.*axis = pieces.piece(1).held();
    EXPECT_EQ(part.size, size);
    EXPECT_EQ(part, [&] {
      Denoise filled = with_profile(problem);
      filled.size = size;
      return filled;
    }()) << "a piece has the whole's parameters, whatever a profile has for its size";
  }
}

TEST(DenoisePiecesTest, a_copy_needs_no_neighbours) {
  Denoise problem = column(50, 4, 15, 2, DenoiseStage::both);
  problem.sigma = 0;
  const DenoisePieces pieces(problem, &PerAxis::z, 10);
  EXPECT_EQ(pieces.count(), 5);
  EXPECT_EQ(pieces.margin(), 0);
  EXPECT_EQ(pieces.piece(4), (DenoisePiece{40, 50, 40, 50}));
  EXPECT_EQ(DenoisePieces(problem, &PerAxis::z, 1).piece(11).own(), 4) << "a piece has room for a patch";
}

TEST(DenoisePiecesTest, wrong_ways_of_cutting_are_refused) {
  EXPECT_ERROR(DenoisePieces(column(50, 4, 15, 2), &PerAxis::z, 0), ErrorCode::invalid_argument,
               "planes of pieces of denoise is 0");
  EXPECT_ERROR(DenoisePieces(column(50, 4, 15, 2), nullptr, 9), ErrorCode::invalid_argument,
               "the axis of pieces of denoise is null");
  EXPECT_ERROR(DenoisePieces(column(3, 4, 15, 2), &PerAxis::z, 9), ErrorCode::invalid_argument,
               "hard.patch.z of denoise is 4");
  EXPECT_ERROR(DenoisePieces(column(50, 4, 15, 2, DenoiseStage::both), &PerAxis::z, 9), ErrorCode::invalid_argument,
               "stage of denoise is both, but pieces of 9 of 50 planes are those of one step");
  EXPECT_EQ(DenoisePieces(column(50, 4, 15, 2, DenoiseStage::both), &PerAxis::z, 50).count(), 1);
}

}  // namespace
}  // namespace tessera
