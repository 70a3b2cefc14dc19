// kernel_regression, exact_bytes: whole distances from products of bytes in tiles. The launches are in
// kernel_regression_tiles.cpp.
#include <limits>

#include "backend/sentence.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  using backend::sentence;
  if (problem.type != DataType::uint8) {
    return backend::Verdict::no(
        sentence("the type of kernel_regression is ", to_string(problem.type), ", but exact_bytes takes uint8 alone"));
  }
  // 255^2 for each.
  constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max() / (255 * 255);
  if (problem.columns > kMostColumns) {
    return backend::Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ",
                                         kMostColumns, " a distance of bytes is an int32"));
  }
  return check_regression_tiles(problem, native(device).facts());
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes() {
  return {.name = "exact_bytes",
          .summary = "whole distances from products of bytes in register tiles, by NVIDIA's dp4a where it is",
          .check = check,
          .tunables =
              [](const KernelRegression& problem, const backend::Device& device) {
                return regression_tile_tunables(problem, native(device).facts());
              },
          .make = [](const KernelRegression& problem, backend::Device& device,
                     const Tuning& tuning) { return make_regression_tiles(problem, native(device), tuning); }};
}

}  // namespace tessera::opencl
