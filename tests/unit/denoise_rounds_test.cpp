// How denoise is cut into rounds: every reference is in one, sums are there when they are needed, and every voxel is
// written once.
#include "mathematics/denoise_rounds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tessera::mathematics {
namespace {

Denoise problem_of(const PerAxis& size, const PerAxis& patch, const PerAxis& window, const PerAxis& step) {
  DenoiseStep parameters{.patch = patch, .window = window, .step = step};
  return with_profile({.size = size, .sigma = 1, .hard = parameters, .wiener = parameters});
}

std::int64_t along(const PerAxis& numbers, std::int64_t PerAxis::*axis) {
  return numbers.*axis;
}

/// Walks through the rounds as a device does.
void expect_sound(const Denoise& problem, std::int64_t lines, std::int64_t most_references) {
  SCOPED_TRACE(::testing::Message() << "lines " << lines << ", at most " << most_references << " references");
  const DenoiseRounds rounds(problem, problem.hard, lines, most_references);
  const PatchMatch matching = problem.matching(problem.hard);
  const PatchGeometry geometry(matching);
  const PerAxis all = matching.references();
  const PatchAxis& axis = rounds.axis == &PerAxis::z ? geometry.z : geometry.y;
  std::vector<int> filtered(static_cast<std::size_t>(all.product()));
  std::vector<int> written(static_cast<std::size_t>(axis.size));
  std::vector<std::int64_t> held(static_cast<std::size_t>(rounds.ring), -1);  // by place in the ring, the slice
  std::vector<bool> is_reached(written.size());
  const auto place = [&](std::int64_t slice) { return static_cast<std::size_t>(slice % rounds.ring); };
  for (const DenoiseRound& round : rounds.rounds) {
    EXPECT_LE(round.references.product(), std::max<std::int64_t>(most_references, 1));
    for (std::int64_t slice = round.cleared.first; slice < round.cleared.end; ++slice) {
      const std::int64_t before = held[place(slice)];
      EXPECT_TRUE(before < 0 || written[static_cast<std::size_t>(before)] == 1) << "slice " << before << " is lost";
      held[place(slice)] = slice;
    }
    for (std::int64_t k = round.first.z; k < round.first.z + round.references.z; ++k) {
      for (std::int64_t j = round.first.y; j < round.first.y + round.references.y; ++j) {
        for (std::int64_t i = round.first.x; i < round.first.x + round.references.x; ++i)
          ++filtered.at(static_cast<std::size_t>((k * all.y + j) * all.x + i));
      }
    }
    const std::int64_t last = along(round.first, rounds.axis) + along(round.references, rounds.axis) - 1;
    for (std::int64_t line = along(round.first, rounds.axis); line <= last; ++line) {
      const std::int64_t at = axis.place(line);
      for (std::int64_t slice = axis.first_candidate(at); slice < axis.end_of_candidates(at) - 1 + axis.patch;
           ++slice) {
        EXPECT_EQ(held[place(slice)], slice) << "has no sums";
        EXPECT_EQ(written[static_cast<std::size_t>(slice)], 0) << slice << " is written too early";
        is_reached[static_cast<std::size_t>(slice)] = true;
      }
    }
    for (std::int64_t slice = round.finished.first; slice < round.finished.end; ++slice) {
      ++written.at(static_cast<std::size_t>(slice));
      if (slice < round.end_of_sums) {
        EXPECT_EQ(held[place(slice)], slice) << "is read without sums";
      } else {
        EXPECT_FALSE(is_reached[static_cast<std::size_t>(slice)]) << slice << " has sums that nobody reads";
      }
    }
  }
  for (const int count : filtered) EXPECT_EQ(count, 1);
  for (const int count : written) EXPECT_EQ(count, 1);
}

TEST(DenoiseRoundsTest, volumes_images_and_lines_are_covered_once) {
  const std::vector<Denoise> problems{
      problem_of({23, 18, 13}, {4, 4, 4}, {7, 6, 5}, {3, 2, 4}),
      problem_of({23, 18, 31}, {4, 4, 4}, {2, 1, 1}, {9, 8, 11}),  // slices between references that none reaches
      problem_of({40, 31, 2}, {4, 4, 2}, {7, 6, 5}, {3, 2, 4}),
      problem_of({53, 37, 1}, {8, 8, 1}, {11, 9, 1}, {3, 3, 1}),
      problem_of({1, 1, 200}, {1, 1, 8}, {1, 1, 31}, {1, 1, 4}),
      problem_of({9, 1, 1}, {3, 1, 1}, {5, 1, 1}, {2, 1, 1}),
      problem_of({1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1})};
  for (const Denoise& problem : problems) {
    SCOPED_TRACE(::testing::Message() << problem.size.x << " x " << problem.size.y << " x " << problem.size.z);
    for (const std::int64_t lines : {1, 2, 5, 1000}) {
      for (const std::int64_t most : {1, 3, 8, 40, 1000000}) expect_sound(problem, lines, most);
    }
  }
}

TEST(DenoiseRoundsTest, sums_of_a_slab_take_a_ring_of_slices) {
  const Denoise problem = problem_of({20, 20, 100}, {4, 4, 4}, {5, 5, 5}, {2, 2, 2});
  EXPECT_EQ(DenoiseRounds(problem, problem.hard, 1000, 1000000).ring, 100);
  // One line: a window of five places, and what their patches have more.
  EXPECT_EQ(DenoiseRounds(problem, problem.hard, 1, 1000000).ring, 8);
  EXPECT_EQ(DenoiseRounds(problem, problem.hard, 3, 1000000).ring, 12);
  EXPECT_EQ(DenoiseRounds(problem, problem.hard, 3, 1000000).held.product(), 20 * 20 * 12);
}

TEST(DenoiseRoundsTest, usual_slabs_keep_their_sums_within_the_usual_memory) {
  Denoise problem = problem_of({512, 512, 2000}, {4, 4, 4}, {15, 15, 15}, {2, 2, 2});
  const std::int64_t lines = usual_denoise_lines(problem);
  const auto bytes = [&](std::int64_t count) {
    return static_cast<double>(DenoiseRounds(problem, problem.hard, count, 1000000).held.product() * kDenoiseSumBytes);
  };
  EXPECT_LE(bytes(lines), kUsualDenoiseSumsBytes);
  EXPECT_GT(bytes(lines + 3), kUsualDenoiseSumsBytes);
  problem.size.x = problem.size.y = 20000;  // one line alone passes it
  EXPECT_EQ(usual_denoise_lines(problem), 1);
}

}  // namespace
}  // namespace tessera::mathematics
