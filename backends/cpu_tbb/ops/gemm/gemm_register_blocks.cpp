// The choice of a grid: every number of chunks from one a thread to a few is tried with every number of rows of blocks,
// and the time of the busiest thread is estimated:
//
//              columns + 12                 A block costs its own area, a margin below it for the packing of B and one
//           +--------------+--+             beside it for the packing of A. So blocks should be large and nearly
//      rows |    block     |  |             square, and there should be a multiple of the threads of them, which the
//       + 6 +--------------+  |             borders of tiles allow or not.
//           +-----------------+
#include "ops/gemm/gemm_register_blocks.h"

#include <algorithm>

namespace tessera::cpu_tbb {

namespace {

// In rows and columns of C. On one core of a Xeon (AVX-512) 256 x 256 x 256 floats ran at 177 GFLOP/s, 128 x 256 x 256
// at 173 and 256 x 128 x 256 at 169.
constexpr double kRowsForPacking = 6;
constexpr double kColumnsForPacking = 12;

/// A chunk with fewer multiply-adds is not worth a hand-over: 5 microseconds of a core with AVX-512, which is what it
/// costs to give one of 16 threads its part, and twice what it costs to give it to one of 2.
constexpr double kSmallest = 1 << 20;
/// More chunks than threads even out what one thread begins later or does more slowly than another, the more so the
/// more threads there are. For a thread this much more time for packing is taken into account, up to a limit. On a Xeon
/// with 2 threads, 4 chunks for each cost 4 % at 1024 and 2048; with 16 threads they gain 5, 10 and 3 % at 1024, 2048
/// and 4096.
constexpr std::int64_t kMostPerThread = 4;
/// Multiply-adds of a chunk, 80 microseconds: with shorter ones 16 threads lose 20 % at 512.
constexpr double kWorthBalancing = 1 << 23;
constexpr double kBalanceIsWorthPerThread = 0.0075;
constexpr double kBalanceIsWorthAtMost = 0.12;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

Blocks blocks_of(std::int64_t m, std::int64_t n, const RegisterTile& tile, std::int64_t down, std::int64_t across) {
  Blocks blocks;
  blocks.rows = divide_up(divide_up(m, tile.rows), down) * tile.rows;
  blocks.columns = divide_up(divide_up(n, tile.columns), across) * tile.columns;
  blocks.down = divide_up(m, blocks.rows);
  blocks.across = divide_up(n, blocks.columns);
  return blocks;
}

/// Time of the busiest thread, in sums of C.
double time_of(const Blocks& blocks, std::int64_t m, std::int64_t n, int threads) {
  const auto rounds = static_cast<double>(divide_up(blocks.down * blocks.across, threads));
  return rounds * (static_cast<double>(std::min(blocks.rows, m)) + kRowsForPacking) *
         (static_cast<double>(std::min(blocks.columns, n)) + kColumnsForPacking);
}

}  // namespace

Blocks register_blocks(std::int64_t m, std::int64_t n, std::int64_t k, const RegisterTile& tile,
                       std::int64_t most_columns, int threads) {
  if (m == 0 || n == 0) return {};
  const std::int64_t tiles_down = divide_up(m, tile.rows);
  const std::int64_t tiles_across = divide_up(n, tile.columns);
  const std::int64_t least_across = divide_up(tiles_across, most_columns / tile.columns);
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const double most_chunks = products / kSmallest;
  Blocks best = blocks_of(m, n, tile, 1, least_across);
  if (threads == 1) return best;
  const double accepted = 1 + std::min(kBalanceIsWorthPerThread * threads, kBalanceIsWorthAtMost);
  double best_time = time_of(best, m, n, threads);
  for (std::int64_t per_thread = 1; per_thread <= kMostPerThread; ++per_thread) {
    const auto chunks =
        static_cast<std::int64_t>(std::min(static_cast<double>(per_thread * threads), std::max(most_chunks, 1.0)));
    Blocks best_of_these = best;
    double time_of_these = best_time * accepted;
    for (std::int64_t down = 1; down <= std::min(chunks, tiles_down); ++down) {
      const std::int64_t across = std::clamp(chunks / down, least_across, std::max(least_across, tiles_across));
      const Blocks blocks = blocks_of(m, n, tile, down, across);
      const double time = time_of(blocks, m, n, threads);
      if (time >= time_of_these) continue;
      best_of_these = blocks;
      time_of_these = time;
    }
    best = best_of_these;
    best_time = std::min(best_time, time_of_these);
    if (products / static_cast<double>((per_thread + 1) * threads) < kWorthBalancing) break;
  }
  return best;
}

}  // namespace tessera::cpu_tbb
