// How the variant "register" cuts C into chunks: a grid of blocks.
#pragma once

#include <cstdint>

#include "cpu_tbb_executor.h"
#include "ops/gemm/gemm_register_kernel.h"

namespace tessera::cpu_tbb {

/// `down` x `across` blocks of `rows` x `columns`, the last of each direction shorter.
struct Blocks {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t down = 1;
  std::int64_t across = 1;
};

/// The grid for m x n sums of k products each that takes a team the least time. Blocks have at most
/// `most_columns` columns. It may depend on the threads: what a block computes does not depend on where it ends.
[[nodiscard]] Blocks register_blocks(std::int64_t m, std::int64_t n, std::int64_t k, const RegisterTile& tile,
                                     std::int64_t most_columns, const Team& team);

/// The estimated time of such a grid, in multiply-adds of one thread.
[[nodiscard]] double register_time(const Blocks& blocks, std::int64_t n, std::int64_t k, const Team& team);

}  // namespace tessera::cpu_tbb
