// The choice of a grid of blocks: every grid with up to some blocks for each thread is tried, and its time estimated:
//
//              columns + 11            A block's time is that of its own area, plus a margin below it for packing B and
//           +--------------+--+        one beside it for packing A: large and nearly square blocks waste least. The
//      rows |    block     |  |        threads take as many rounds as there are blocks for each of them, and wait for
//       + 8 +--------------+  |        the slowest at the end: many small blocks waste least. The estimate weighs the
//           +-----------------+        one against the other.
//
// Rows are divided evenly, not at the ends of register tiles: a block cuts its own rows into panels of nearly equal
// height, and a panel of 13 rows takes 13/14 of the time of one with 14. Columns are divided at the ends of tiles.
#include "ops/gemm/gemm_register_blocks.h"

#include <algorithm>
#include <limits>

#include "mathematics/division.h"
#include "ops/gemm/gemm_hand_over.h"

namespace tessera::cpu_tbb {

namespace {

/// What every block costs beside its area, in multiply-adds: about a microsecond.
constexpr double kForChunk = 1 << 16;

/// Blocks beyond one for each thread have so many multiply-adds at least: they take 5 microseconds on a core with
/// AVX-512.
constexpr double kSmallest = 1 << 20;
constexpr std::int64_t kMostPerThread = 8;

Blocks blocks_of(std::int64_t m, std::int64_t n, const RegisterTile& tile, std::int64_t down, std::int64_t across) {
  Blocks blocks;
  blocks.rows = mathematics::ceil_div(m, down);
  blocks.columns = mathematics::ceil_div(mathematics::ceil_div(n, tile.columns), across) * tile.columns;
  blocks.down = mathematics::ceil_div(m, blocks.rows);
  blocks.across = mathematics::ceil_div(n, blocks.columns);
  return blocks;
}

}  // namespace

double register_time(const Blocks& blocks, std::int64_t n, std::int64_t k, const Team& team) {
  if (blocks.rows == 0) return 0;
  const double columns = static_cast<double>(std::min(blocks.columns, n));
  const double chunk =
      (static_cast<double>(blocks.rows) + kOfElementOfB) * (columns + kOfElementOfA) * static_cast<double>(k) +
      kForChunk;
  const std::int64_t chunks = blocks.down * blocks.across;
  const auto rounds = static_cast<double>(mathematics::ceil_div(chunks, team.threads));
  return (rounds + team.waited_for) * chunk + hand_over(std::min<std::int64_t>(chunks, team.threads));
}

Blocks register_blocks(std::int64_t m, std::int64_t n, std::int64_t k, const RegisterTile& tile,
                       std::int64_t most_columns, const Team& team) {
  if (m == 0 || n == 0) return {};
  const std::int64_t tiles_down = mathematics::ceil_div(m, tile.rows);
  const std::int64_t tiles_across = mathematics::ceil_div(n, tile.columns);
  const std::int64_t least_across = mathematics::ceil_div(tiles_across, most_columns / tile.columns);
  Blocks best = blocks_of(m, n, tile, 1, least_across);
  if (team.threads == 1) return best;
  const double products = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto most_chunks = static_cast<std::int64_t>(
      std::clamp<double>(products / kSmallest, team.threads, static_cast<double>(kMostPerThread) * team.threads));
  double best_time = std::numeric_limits<double>::infinity();
  for (std::int64_t down = 1; down <= std::min(most_chunks, tiles_down); ++down) {
    const std::int64_t most_across = std::max(least_across, std::min(most_chunks / down, tiles_across));
    for (std::int64_t across = least_across; across <= most_across; ++across) {
      const Blocks blocks = blocks_of(m, n, tile, down, across);
      const double time = register_time(blocks, n, k, team);
      if (time >= best_time) continue;
      best = blocks;
      best_time = time;
    }
  }
  return best;
}

}  // namespace tessera::cpu_tbb
