// kernel_regression, exact_bytes: whole distances from products of bytes in tiles. The launches are in
// kernel_regression_tiles.cpp.
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  if (backend::Verdict verdict = check_regression_bytes(problem); !verdict) return verdict;
  const DeviceFacts& facts = native(device).facts();
  return check_regression_tiles(problem, facts, regression_tiles(problem, facts));
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes() {
  return {.name = "exact_bytes",
          .summary = "whole distances from products of bytes in register tiles, by NVIDIA's dp4a where it is",
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
          .pays = [](const KernelRegression& problem,
                     const backend::Device& device) { return regression_is_fastest("exact_bytes", problem, device); }};
}

}  // namespace tessera::opencl
