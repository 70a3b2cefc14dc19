// The variant "tiled" of conv2d.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/conv2d/conv2d_operands.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::int64_t kSmallestTile = 8;

/// 47 x 47 numbers for the largest filter and tile are 35 KiB, less than every card has.
Conv2dTile tile_of(const Conv2d& problem, std::int64_t size) {
  const std::int64_t numbers = (size + problem.filter_height - 1) * (size + problem.filter_width - 1);
  return {size, size, static_cast<unsigned>(numbers * 4)};
}

Verdict check(const Conv2d& problem, const backend::Device& device) {
  return check_columns(problem, device, kSmallestTile);
}

std::vector<Tunable> tunables(const Conv2d&, const backend::Device&) {
  return {{"tile", "rows and columns of the output that one group computes", {8, 16, 32}, 32}};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t size = tuning.at("tile");
  return make_conv2d_kernel(problem, device, embedded::conv2d_tiled,
                            sentence("tessera_conv2d_tiled_", to_string(problem.type), "_", size),
                            tile_of(problem, size));
}

}  // namespace

backend::Variant<Conv2d> conv2d_tiled() {
  return {
      .name = "tiled",
      .summary = "tile and halo in shared memory, one pixel a thread",
      .check = check,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
