// The choice of a grid: every grid with up to some chunks for each thread is tried, and its time estimated:
//
//              columns + 11                 A block costs its own area, a margin below it for the packing of B and one
//           +--------------+--+             beside it for the packing of A, so blocks should be large and nearly
//      rows |    block     |  |             square. Threads take as many rounds as there are chunks for each, and wait
//       + 8 +--------------+  |             for the slowest at the end, so there should be many small ones.
//           +-----------------+
//
// Rows are divided evenly, wherever a register tile ends: a block cuts its own rows into panels of nearly equal height,
// and 13 rows take 13/14 of the time of 14. Columns are divided at tiles.
#include "ops/gemm/gemm_register_blocks.h"

#include <algorithm>
#include <limits>

namespace tessera::cpu_tbb {

namespace {

// In rows and columns of C. On 16 cores of a Xeon (AVX-512), 512 x 512 x 512 floats keep the threads busy for 177 us in
// blocks of 64 x 256, 184 in 64 x 128, 198 in 64 x 64 and 205 in 32 x 64. Over all of {256, 512, 1024, 2048}^3 there, 8
// rows give 1.11 times the speed of oneDNN in the geometric mean, 4 give 1.07 and 12 give 1.05; on 2 cores 256 x 512 x
// 2048 takes 1.85 ms with 8 and 1.97 with 4.
constexpr double kRowsForPacking = 8;
constexpr double kColumnsForPacking = 11;
/// Multiply-adds in the time that a chunk takes beside its block: about a microsecond.
constexpr double kForChunk = 1 << 16;

/// A chunk with fewer multiply-adds is not worth a hand-over: 5 microseconds of a core with AVX-512, which is what it
/// costs to give one of 16 threads its part, and twice what it costs to give it to one of 2.
constexpr double kSmallest = 1 << 20;
constexpr std::int64_t kMostPerThread = 8;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

Blocks blocks_of(std::int64_t m, std::int64_t n, const RegisterTile& tile, std::int64_t down, std::int64_t across) {
  Blocks blocks;
  blocks.rows = divide_up(m, down);
  blocks.columns = divide_up(divide_up(n, tile.columns), across) * tile.columns;
  blocks.down = divide_up(m, blocks.rows);
  blocks.across = divide_up(n, blocks.columns);
  return blocks;
}

/// In multiply-adds.
double time_of(const Blocks& blocks, std::int64_t n, std::int64_t k, const Team& team) {
  const double columns = static_cast<double>(std::min(blocks.columns, n));
  const double chunk =
      (static_cast<double>(blocks.rows) + kRowsForPacking) * (columns + kColumnsForPacking) * static_cast<double>(k) +
      kForChunk;
  const auto rounds = static_cast<double>(divide_up(blocks.down * blocks.across, team.threads));
  return (rounds + team.waited_for) * chunk;
}

}  // namespace

Blocks register_blocks(std::int64_t m, std::int64_t n, std::int64_t k, const RegisterTile& tile,
                       std::int64_t most_columns, const Team& team) {
  if (m == 0 || n == 0) return {};
  const std::int64_t tiles_down = divide_up(m, tile.rows);
  const std::int64_t tiles_across = divide_up(n, tile.columns);
  const std::int64_t least_across = divide_up(tiles_across, most_columns / tile.columns);
  Blocks best = blocks_of(m, n, tile, 1, least_across);
  if (team.threads == 1) return best;
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto most_chunks = static_cast<std::int64_t>(
      std::clamp(products / kSmallest, 1.0, static_cast<double>(kMostPerThread) * team.threads));
  double best_time = std::numeric_limits<double>::infinity();
  for (std::int64_t down = 1; down <= std::min(most_chunks, tiles_down); ++down) {
    const std::int64_t most_across = std::max(least_across, std::min(most_chunks / down, tiles_across));
    for (std::int64_t across = least_across; across <= most_across; ++across) {
      const Blocks blocks = blocks_of(m, n, tile, down, across);
      const double time = time_of(blocks, n, k, team);
      if (time >= best_time) continue;
      best = blocks;
      best_time = time;
    }
  }
  return best;
}

}  // namespace tessera::cpu_tbb
