// kernel_regression, fused: products of centred rows in tiles; the least distance and the sums pass by with them. The
// launches are in kernel_regression_tiles.cpp.
#include "ops/kernel_regression/kernel_regression_expected.h"
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
  const DeviceFacts& facts = native(device).facts();
  return check_regression_tiles(problem, facts, regression_tiles(problem, facts));
}

backend::Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  return regression_is_fastest("fused", problem, device);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_fused() {
  return {.name = "fused",
          .summary = "products of centred rows in register tiles; the least distance and the sums pass by with them",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                const DeviceFacts& facts = native(device).facts();
                return regression_tile_tunables(problem, facts, regression_tiles(problem, facts));
              },
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
                const OpenclDevice& opencl = native(device);
                return make_regression_tiles(problem, opencl, tuning, regression_tiles(problem, opencl.facts()));
              },
          .error_factor = 2,
          .pays = pays};
}

}  // namespace tessera::opencl
