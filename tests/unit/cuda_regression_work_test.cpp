// How clusters divide kernel_regression's pieces of work: the part of a kernel that a machine without a GPU can test.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ops/kernel_regression/kernel_regression_wide_work.h"

namespace tessera::cuda {
namespace {

struct Division {
  int pairs;
  int blocks;
  int clusters;
};

/// How often each piece is taken, pair by pair, and the most pieces that a cluster takes.
struct Taken {
  std::vector<int> times;
  int most = 0;
};

Taken take_all(const Division& division) {
  Taken taken{std::vector<int>(static_cast<std::size_t>(division.pairs * division.blocks))};
  for (int cluster = 0; cluster < division.clusters; ++cluster) {
    const RegressionWideShare share(division.pairs, division.blocks, division.clusters, cluster);
    taken.most = std::max(taken.most, share.end());
    for (int piece = 0; piece < share.end();) {
      const RegressionWideRun run = share.run_at(piece);
      EXPECT_EQ(run.piece, piece);
      EXPECT_GT(run.behind, piece);
      EXPECT_LE(run.behind, share.end());
      for (; piece < run.behind; ++piece) {
        const int block = run.block + piece - run.piece;
        EXPECT_LT(run.pair, division.pairs);
        EXPECT_LT(block, division.blocks);
        if (run.pair < division.pairs && block < division.blocks) {
          ++taken.times[static_cast<std::size_t>(run.pair * division.blocks + block)];
        }
      }
      if (::testing::Test::HasFailure()) return taken;
    }
  }
  return taken;
}

TEST(CudaRegressionWorkTest, clusters_take_each_piece_once_and_evenly) {
  for (int pairs = 1; pairs <= 40; ++pairs) {
    for (int blocks = 1; blocks <= 31; blocks += 3) {
      for (const int most_clusters : {1, 2, 7, 16, 39, 66}) {
        const int clusters = std::min(most_clusters, pairs * blocks);
        SCOPED_TRACE(::testing::Message() << pairs << " pairs, " << blocks << " blocks, " << clusters << " clusters");
        const Taken taken = take_all({pairs, blocks, clusters});
        EXPECT_TRUE(std::all_of(taken.times.begin(), taken.times.end(), [](int times) { return times == 1; }));
        EXPECT_EQ(taken.most, (pairs * blocks + clusters - 1) / clusters);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(CudaRegressionWorkTest, first_clusters_pass_over_the_rows_side_by_side) {
  // The study's training set and all its test images on a card with 132 multiprocessors.
  for (int cluster = 0; cluster < 40; ++cluster) {
    const RegressionWideRun run = RegressionWideShare(40, 30, 66, cluster).run_at(0);
    EXPECT_EQ(run.pair, cluster);
    EXPECT_EQ(run.block, 0);
    EXPECT_EQ(run.behind, 18);
  }
}

}  // namespace
}  // namespace tessera::cuda
