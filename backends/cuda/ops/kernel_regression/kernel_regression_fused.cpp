// kernel_regression, fused: products of centred rows in tiles; the least distance and the sums pass by with them. The
// launches are in kernel_regression_tiles.cpp.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

/// What a thread copies at once.
constexpr std::int64_t kChunkBytes = 16;

/// Of a tile that fetches more queries than it has, and whose warps read more of them: with 112 x 64 beside 128 x 64 on
/// an H200, 10,000 queries of 60000 x 784 take 22.7 ms and not 22.4, though 2,240 stand in for them where it is 2,304.
constexpr std::int64_t kEffortOfMore = 104;

RegressionTile tile_of(const GemmRegisterShape& shape, DataType type, const Image& image, bool asynchronous) {
  return {.queries = shape.tile_m,
          .rows = shape.tile_n,
          .threads = shape.threads(),
          .blocks = shape.blocks,
          .shared_bytes = shared_bytes_of_fused(shape, size_bytes(type), asynchronous),
          .image = image,
          .function = backend::sentence("tessera_kernel_regression_fused_", to_string(type), "_", shape.tile_m, "x",
                                        shape.tile_n),
          .packing = {.depth_bytes = kChunkBytes, .across = true, .query_rows = stage_queries(shape)},
          .clusters = {},
          .effort = stage_queries(shape) == shape.tile_m ? kRegressionEffort : kEffortOfMore};
}

std::vector<RegressionTile> tiles_of(DataType type, const backend::Device& device) {
  const bool asynchronous = native(device).context()->limits().compute_capability_major >= 8;
  if (type == DataType::float64) {
    return {
        tile_of(kRegressionFloat64Shapes[0], type, embedded::kernel_regression_fused_float64_128x64, asynchronous),
        tile_of(kRegressionFloat64Shapes[1], type, embedded::kernel_regression_fused_float64_112x64, asynchronous),
        tile_of(kRegressionFloat64Shapes[2], type, embedded::kernel_regression_fused_float64_64x64, asynchronous),
        tile_of(kRegressionFloat64Shapes[3], type, embedded::kernel_regression_fused_float64_32x64, asynchronous),
    };
  }
  return {
      tile_of(kRegressionFloat32Shapes[0], type, embedded::kernel_regression_fused_float32_64x128, asynchronous),
      tile_of(kRegressionFloat32Shapes[1], type, embedded::kernel_regression_fused_float32_128x128, asynchronous),
      tile_of(kRegressionFloat32Shapes[2], type, embedded::kernel_regression_fused_float32_32x128, asynchronous),
  };
}

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  if (problem.type == DataType::uint8) {
    return backend::Verdict::no("the rows of kernel_regression are uint8, but fused computes with float32 or float64");
  }
  if (problem.accuracy == Accuracy::strict) {
    return backend::Verdict::no(
        "the accuracy of kernel_regression is strict, but fused takes distances from lengths and products");
  }
  return check_regression_tiles(problem, device, tiles_of(problem.type, device));
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_fused() {
  return {.name = "fused",
          .summary = "products of centred rows in register tiles; the least distance and the sums pass by with them",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, device, tiles_of(problem.type, device));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const std::vector<RegressionTile> tiles = tiles_of(problem.type, device);
                return make_regression_tiles(problem, native(device).context(), chosen_tile(tiles, tuning));
              },
          .error_factor = 2,
          .pays = [](const KernelRegression& problem,
                     const backend::Device& device) { return regression_is_fastest("fused", problem, device); }};
}

}  // namespace tessera::cuda
