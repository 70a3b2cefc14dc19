// How the clusters of exact_bytes' tile of Hopper divide their work; read by host and device.
//
// A piece of work is a block of training rows for a pair of queries' tiles. As long as there is a pair for each
// cluster, every cluster takes one with all blocks. Of the last pairs the first clusters take the first blocks of one
// each, and the other clusters share what is left:
//
//   5 clusters, 3 pairs   pair 0   0 0 0 0 0 0 3 3 3 3     So all clusters pass over the training rows side by side, a
//   of 10 blocks          pair 1   1 1 1 1 1 1 3 3 4 4     few blocks at a time, which L2 holds, and none has more
//                         pair 2   2 2 2 2 2 2 4 4 4 4     pieces than any even share rounded up.
#pragma once

#include <cstdint>

#include "cuda_host_device.h"

namespace tessera::cuda {

/// What a cluster takes of a pair, from `block` on: its pieces with the numbers piece to behind - 1.
struct RegressionWideRun {
  int pair;
  int block;
  int piece;
  int behind;
};

/// One cluster's pieces, in their order.
class RegressionWideShare {
 public:
  TESSERA_CUDA_HOST_DEVICE constexpr RegressionWideShare(int pairs, int blocks, int clusters, int cluster)
      : blocks_(blocks),
        clusters_(clusters),
        cluster_(cluster),
        whole_(pairs / clusters * blocks),
        last_pair_(pairs - pairs % clusters) {
    const std::int64_t last_pairs = pairs % clusters;
    const std::int64_t others = clusters - last_pairs;
    auto taken = static_cast<int>(last_pairs * blocks / clusters);
    if (last_pairs * (blocks - taken) > others * (taken + 1)) ++taken;
    if (cluster < last_pairs) {
      last_pair_ += cluster;
      blocks_left_ = blocks;
      end_ = whole_ + taken;
      return;
    }
    const std::int64_t left = last_pairs * (blocks - taken);
    const std::int64_t number = cluster - last_pairs;
    blocks_left_ = blocks - taken;
    first_ = static_cast<int>(left * number / others);
    end_ = whole_ + static_cast<int>(left * (number + 1) / others) - first_;
  }
  /// Pieces are numbered from 0 to end() - 1.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr int end() const { return end_; }
  /// The pieces of a pair that begin with this one.
  [[nodiscard]] TESSERA_CUDA_HOST_DEVICE constexpr RegressionWideRun run_at(int piece) const {
    if (piece < whole_) return {piece / blocks_ * clusters_ + cluster_, 0, piece, piece + blocks_};
    const int number = first_ + piece - whole_;
    const int behind = piece + blocks_left_ - number % blocks_left_;
    return {last_pair_ + number / blocks_left_, blocks_ - blocks_left_ + number % blocks_left_, piece,
            behind < end_ ? behind : end_};
  }

 private:
  int blocks_;
  int clusters_;
  int cluster_;
  int whole_;            ///< pieces of pairs with all blocks
  int last_pair_;        ///< of the last pairs, the first that is this cluster's or is shared,
  int blocks_left_ = 0;  ///< of each of these pairs so many blocks, its last,
  int first_ = 0;        ///< from this piece of theirs on
  int end_ = 0;
};

}  // namespace tessera::cuda
