// kernel_regression, exact_bytes: whole distances from products of bytes in tiles. The launches are in
// kernel_regression_tiles.cpp.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/kernel_regression/kernel_regression_tile_shapes.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

/// Of an instruction's products.
constexpr std::int64_t kStepBytes = 32;

std::vector<RegressionTile> tiles_of_bytes() {
  const auto image_of = [](const RegressionByteShape& shape) -> const Image& {
    if (shape.queries == 256) return embedded::kernel_regression_exact_bytes_uint8_256x128;
    if (shape.queries == 128) return embedded::kernel_regression_exact_bytes_uint8_128x128;
    if (shape.queries == 64) return embedded::kernel_regression_exact_bytes_uint8_64x128;
    return embedded::kernel_regression_exact_bytes_uint8_32x128;
  };
  std::vector<RegressionTile> tiles;
  for (const RegressionByteShape& shape : kRegressionByteShapes) {
    tiles.push_back(
        {.queries = shape.queries,
         .rows = shape.rows,
         .threads = shape.threads(),
         .blocks = shape.blocks,
         .shared_bytes = shared_bytes(shape),
         .image = image_of(shape),
         .function = backend::sentence("tessera_kernel_regression_exact_bytes_", shape.queries, "x", shape.rows)});
  }
  return tiles;
}

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  using backend::sentence;
  if (problem.type != DataType::uint8) {
    return backend::Verdict::no(
        sentence("the type of kernel_regression is ", to_string(problem.type), ", but exact_bytes takes uint8 alone"));
  }
  if (backend::Verdict columns = check_regression_bytes(problem); !columns) return columns;
  return check_regression_tiles(problem, device, tiles_of_bytes());
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes() {
  return {.name = "exact_bytes",
          .summary = "whole distances from products of bytes by the tensor cores, in register tiles",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, device, tiles_of_bytes());
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const std::vector<RegressionTile> tiles = tiles_of_bytes();
                return make_regression_tiles(problem, native(device).context(), chosen_tile(tiles, tuning), kStepBytes);
              }};
}

}  // namespace tessera::cuda
