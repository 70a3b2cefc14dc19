// The host code of "fused", "fused_split" and of the variants of bytes in tiles: which tiles a device is offered, what
// is prepared, what lies where in the workspace, and the launches of a round. The kernels' pictures are in
// kernel_regression_tiles.cl, _split.cl, _tensor.cl, _wgmma.cl, _pack.cl and _pack_split.cl.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernel_regression/kernel_regression_launch.h"

namespace tessera::opencl {

/// What kernel_regression_products.cl, kernel_regression_products_float64.cl, kernel_regression_tensor.cl and
/// kernel_regression_wgmma.cl leave open.
struct RegressionTile {
  std::int64_t queries;
  std::int64_t rows;
  std::int64_t work_queries;  ///< of a work-item
  std::int64_t work_rows;
  std::int64_t width;
  std::int64_t depth;
  std::int64_t numbers = 1;  ///< bytes in a word
  std::int64_t stages = 0;   ///< of steps of NVIDIA's tensor cores in local memory; 0: other products
  int float64_cores = 0;     ///< the architecture whose tensor cores multiply float64 (DeviceFacts); 0: other products
  bool is_of_warp_groups = false;  ///< of kernel_regression_wgmma.cl
  bool is_split = false;           ///< of kernel_regression_split.cl
  bool has_other_sums = false;     ///< than that of one output

  [[nodiscard]] bool is_of_bytes_tensor() const noexcept { return stages != 0 && float64_cores == 0 && !is_split; }
  [[nodiscard]] std::int64_t items() const noexcept { return queries / work_queries * (rows / work_rows); }
  /// SHARES_WEIGHTS of kernel_regression_meeting.cl. Small tiles are those of a device that is not full: there a
  /// group's own time counts. Large ones with a work-item a query need less local memory without: float32 with 10,000
  /// queries of 60000 x 784 took 29.9 ms on an H100 with weights shared, and takes 24.5. Other sums are added up by all
  /// work-items, which then need the weights.
  [[nodiscard]] bool shares_weights() const noexcept {
    return items() > 1 && (has_other_sums || items() > queries || queries < 64);
  }
};

using RegressionTiles = std::vector<RegressionTile>;

/// What a tile's kernel must know of a problem when it is compiled.
struct RegressionTileUse {
  std::int64_t depth;  ///< of a packed row
  std::int64_t panels;
  std::int64_t blocks_of_group;
  bool is_euclidean;
};

/// A kernel that computes states by tiles: its function, text and options.
struct RegressionProgram {
  const char* function;
  std::string_view text;
  std::string options;
  bool is_for_sm_90a = false;
};
[[nodiscard]] RegressionProgram regression_program(const RegressionTile& tile, const RegressionTileUse& use);

/// Those of "fused" and "exact_bytes", the preferred one first and the smallest one last, whether or not the device can
/// run them.
[[nodiscard]] RegressionTiles regression_tiles(const KernelRegression& problem, const DeviceFacts& facts);

/// Training rows whose state is one. They depend on the set and the variant alone: neither slabs nor tiles nor queries
/// may change a bit.
[[nodiscard]] std::int64_t regression_block_rows(const KernelRegression& problem, const RegressionTile& tile) noexcept;

/// Yes unless the device lacks double, or local memory and groups for all tiles. Types and accuracy are the variants'
/// own business.
[[nodiscard]] backend::Verdict check_regression_tiles(const KernelRegression& problem, const DeviceFacts& facts,
                                                      const RegressionTiles& tiles);
/// Yes unless the rows are so many bytes that a distance does not fit an int32.
[[nodiscard]] backend::Verdict check_regression_bytes(const KernelRegression& problem);

/// For variants by tensor cores: yes for bytes whose key and row's number share a word, and for one sum of a query.
[[nodiscard]] backend::Verdict check_regression_words(const KernelRegression& problem, std::string_view variant);
/// Tiles of "fused_split", the preferred one first; none where it does not take the problem.
[[nodiscard]] RegressionTiles regression_split_tiles(const KernelRegression& problem, const DeviceFacts& facts);
/// How long exact_bytes_tensor computes by its best tile, on the busiest multiprocessor, in queries of a block of
/// training rows.
[[nodiscard]] std::int64_t regression_time_of_tensor(const KernelRegression& problem, const DeviceFacts& facts);

/// How many blocks of training rows a group computes one after the other. One; but a group of warp groups, whose start
/// costs as much as a part of a tile, as many as leave the multiprocessors busy for the shortest time.
[[nodiscard]] std::int64_t regression_blocks_of_group(const RegressionTile& tile, const DeviceFacts& facts,
                                                      std::int64_t blocks, std::int64_t queries,
                                                      std::int64_t rows_of_block);

/// tile_queries and tile_rows, in pairs; the first tile that the device can run is preferred.
[[nodiscard]] std::vector<Tunable> regression_tile_tunables(const KernelRegression& problem, const DeviceFacts& facts,
                                                            const RegressionTiles& tiles);

/// Of the tiles, the one with the tunables' values.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_regression_tiles(const KernelRegression& problem,
                                                                     const OpenclDevice& device, const Tuning& tuning,
                                                                     const RegressionTiles& tiles);

}  // namespace tessera::opencl
