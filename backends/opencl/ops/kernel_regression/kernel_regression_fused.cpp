// kernel_regression, fused: products of centred rows in tiles; the least distance and the sums pass by with them. The
// launches are in kernel_regression_tiles.cpp.
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  if (problem.type == DataType::uint8) {
    return backend::Verdict::no("the rows of kernel_regression are uint8, but fused computes with float32 or float64");
  }
  if (problem.accuracy == Accuracy::strict) {
    return backend::Verdict::no(
        "the accuracy of kernel_regression is strict, but fused takes distances from lengths and products");
  }
  return check_regression_tiles(problem, native(device).facts());
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_fused() {
  return {.name = "fused",
          .summary = "products of centred rows in register tiles; the least distance and the sums pass by with them",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, native(device).facts());
              },
          .make = [](const KernelRegression& problem, backend::Device& device,
                     const Tuning& tuning) { return make_regression_tiles(problem, native(device), tuning); },
          .error_factor = 2};
}

}  // namespace tessera::opencl
