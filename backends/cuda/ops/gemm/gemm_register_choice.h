// The shapes that gemm's register variant is compiled for, which of them computes a problem, and over how many groups k
// is split.
#pragma once

#include <tessera/kernel.h>
#include <tessera/ops/gemm.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda_context.h"
#include "cuda_module.h"
#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// A shape with the image that holds its kernels.
struct GemmRegisterImage {
  GemmRegisterShape shape;
  Image image;
};

/// What is compiled for a type, up to the first that does not fit into the card's shared memory; small tiles first.
[[nodiscard]] std::span<const GemmRegisterImage> gemm_register_images(DataType type, const DeviceLimits& card);

/// The one of these images whose tile it is; there is one.
[[nodiscard]] const GemmRegisterImage& image_of_tile(std::span<const GemmRegisterImage> images, std::int64_t tile_m,
                                                     std::int64_t tile_n);

/// A configuration, as the tunables name it.
struct GemmRegisterChoice {
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t split_k = 1;
};

/// What the model of the time knows of a tile.
struct GemmRegisterSpeed {
  std::array<double, 4> rate;  ///< share of the best, with 1, 2, ... groups on a multiprocessor
  double start_us;             ///< of a launch
  double group_us;             ///< of each group that a multiprocessor computes
};
/// And of a split of k: what it adds.
struct GemmRegisterSplitCost {
  double cluster_us;             ///< for the two groups of a cluster to exchange their sums
  double parts_us;               ///< for the second kernel
  double parts_us_of_each;       ///< and for each of its parts
  double parts_us_per_megabyte;  ///< of partial sums and of C
};
/// Of all tiles that an operator has.
struct GemmRegisterModel {
  std::span<const GemmRegisterSpeed> speeds;  ///< in the order of the images
  GemmRegisterSplitCost split;
  std::span<const double> of_products{};  ///< how many times as long as these say, by tile; empty: once
};
/// A configuration with the time that it takes by the model.
struct GemmRegisterEstimate {
  GemmRegisterChoice choice;
  double us;
};

/// Over how many groups k can be split: as many as have steps of their own and memory for their sums.
[[nodiscard]] std::vector<std::int64_t> gemm_register_splits(const Gemm& problem);

/// The configuration that is expected to be fastest, of these splits of k and the images' tiles. Memory's rate is not
/// in it.
[[nodiscard]] GemmRegisterEstimate fastest_gemm_register(const Gemm& problem, const DeviceLimits& card,
                                                         std::span<const std::int64_t> splits,
                                                         std::span<const GemmRegisterImage> images,
                                                         const GemmRegisterModel& model);

/// The same for gemm's own model, where these are images of it, the first ones.
[[nodiscard]] GemmRegisterChoice choose_gemm_register(const Gemm& problem, const DeviceLimits& card,
                                                      std::span<const std::int64_t> splits,
                                                      std::span<const GemmRegisterImage> images);

/// How long register takes with the configuration that is expected to be fastest, by the model.
[[nodiscard]] double gemm_register_microseconds(const Gemm& problem, const DeviceLimits& card);

/// The tunables tile_m and tile_n, which exist in the pairs that have an image. The meanings are the operator's words.
[[nodiscard]] std::vector<Tunable> tile_tunables(std::span<const GemmRegisterImage> images,
                                                 const GemmRegisterChoice& preferred, const char* meaning_m,
                                                 const char* meaning_n);

/// So much shared memory for each group of a shape that they spread evenly (cuda_group_spread.h).
[[nodiscard]] std::size_t bytes_that_spread(const GemmRegisterShape& shape, std::int64_t groups,
                                            const DeviceLimits& card);

}  // namespace tessera::cuda
