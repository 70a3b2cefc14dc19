// Which kernel computes states by a tile, and with which options.
#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"

namespace tessera::opencl {

using backend::sentence;

RegressionProgram regression_program(const RegressionTile& tile, const RegressionTileUse& use) {
  const int is_euclidean = use.is_euclidean ? 1 : 0, has_other_sums = tile.has_other_sums ? 1 : 0;
  if (tile.is_split) {
    return {"kernel_regression_split", embedded::kernel_regression_split,
            sentence(" -DWARPS=", tile.queries / tile.work_queries, " -DSTAGES=", tile.stages,
                     " -DEUCLIDEAN=", is_euclidean, " -DOTHER_SUMS=", has_other_sums)};
  }
  if (tile.is_of_warp_groups) {
    return {"kernel_regression_wgmma", embedded::kernel_regression_wgmma,
            sentence(" -DSTEPS=", use.depth / tile.depth, " -DSTAGES=", tile.stages,
                     " -DGROUP_BLOCKS=", use.blocks_of_group, " -DEUCLIDEAN=", is_euclidean),
            true};
  }
  if (tile.is_of_bytes_tensor()) {
    constexpr std::int64_t kQueriesOfBlock = 16;  // of the instruction's
    return {"kernel_regression_tensor", embedded::kernel_regression_tensor,
            sentence(" -DWARPS=", tile.queries / tile.work_queries, " -DBLOCKS=", tile.work_queries / kQueriesOfBlock,
                     " -DSTAGES=", tile.stages, " -DEUCLIDEAN=", is_euclidean)};
  }
  return {"kernel_regression_tiles", embedded::kernel_regression_tiles,
          sentence(" -DTILE_Q=", tile.queries, " -DTILE_R=", tile.rows, " -DWORK_Q=", tile.work_queries,
                   " -DWORK_R=", tile.work_rows, " -DDEPTH=", tile.depth, " -DPANELS=", use.panels,
                   " -DSTAGES=", tile.stages, " -DTENSOR_CORES=", tile.float64_cores,
                   " -DSHARES_WEIGHTS=", tile.shares_weights() ? 1 : 0, " -DOTHER_SUMS=", has_other_sums)};
}

}  // namespace tessera::opencl
