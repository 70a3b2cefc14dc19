// kernel_regression, fused: products of centred rows in tiles; the least distance and the sums pass by with them. The
// launches are in kernel_regression_tiles.cpp.
#include "backend/sentence.h"
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

/// Below so many products the launches of the tiles, and the few groups that they have work for, cost more than the
/// products: on an H100 one_kernel and naive were up to six times as fast in nine problems of up to 13 million products
/// in float32, and slower in two of 97 and 166 million.
constexpr double kLeastProducts = 16e6;

backend::Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  if (native(device).facts().info.kind == DeviceKind::cpu) return backend::Verdict::yes();
  const double products = static_cast<double>(problem.training_rows) * static_cast<double>(problem.columns) *
                          static_cast<double>(problem.queries);
  if (products >= kLeastProducts) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("kernel_regression has ", problem.training_rows, " x ", problem.columns,
                                                " x ", problem.queries, " products, but tiles gain from ",
                                                static_cast<std::int64_t>(kLeastProducts), " on"));
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
