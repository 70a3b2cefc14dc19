// conv2d, register_tiled: tile and halo in local memory, a block of sums in each work-item's registers. See
// conv2d_register_tiled.cl.
#include <utility>

#include "backend/sentence.h"
#include "mathematics/conv2d_tiles.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;
using Tile = mathematics::Conv2dRegisterTile;

Verdict check(const Conv2d& problem, const backend::Device& device) {
  if (const Verdict fits = check_group(problem, device, Tile::kThreads, Tile::bytes(problem, Tile::kRows.front()));
      !fits) {
    return fits;
  }
  return check_groups("conv2d", conv2d_blocks(problem, Tile::kRows.front(), Tile::kColumns));
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  const DeviceInfo& info = native(device).facts().info;
  Tunable rows{.name = "tile_rows", .meaning = "rows of the output that one work-group computes", .values = {}};
  const std::int64_t preferred = Tile::preferred(problem, static_cast<std::int64_t>(info.compute_units));
  for (const std::int64_t value : Tile::kRows) {
    if (static_cast<std::uint64_t>(Tile::bytes(problem, value)) > info.local_memory_bytes) continue;
    rows.values.push_back(value);
    if (value <= preferred) rows.preferred = value;
  }
  return {rows};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const std::int64_t rows = tuning.at("tile_rows");
  const Conv2dNumbers numbers = conv2d_numbers(problem);
  auto kernel = native(device).kernel(
      conv2d_program("conv2d_register_tiled", embedded::conv2d_register_tiled, problem,
                     sentence(numbers.option, " -DROWS=", rows / Tile::kThreadsDown, " -DBAND=", Tile::kBand,
                              " -DTAIL=", mathematics::conv2d_tail(problem.filter_width),
                              " -DFETCHED=", mathematics::conv2d_fetched(Tile::kColumns, problem.filter_width)),
                     numbers.sums));
  kernel->set(kConv2dWeights + 1, static_cast<std::size_t>(Tile::bytes(problem, rows)), nullptr);
  const std::vector<double> weights =
      mathematics::conv2d_in_segments(problem.filter, problem.filter_height, problem.filter_width);
  return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {1, Tile::kThreads, rows, Tile::kColumns}),
                             conv2d_weight_bits(problem, weights, numbers.sums), device);
}

/// By the shortest times on PoCL 3.1 and on Intel's runtime, without a committed file, two quiet cores of an EPYC,
/// 512 x 768 pixels: filters of 4 x 8, 8 x 4 and 6 x 6 take 0.76 to 0.87 and 0.51 to 0.65 of tiled's time; with 2 x 9,
/// 9 x 2 and 4 x 4 naive is as fast or faster.
backend::Verdict pays(const Conv2d& problem, const backend::Device& device) {
  constexpr std::int64_t kFewestWeights = 32;
  return pays_in_tiles(problem, device, kFewestWeights);
}

}  // namespace

backend::Variant<Conv2d> conv2d_register_tiled() {
  return {.name = "register_tiled",
          .summary = "tile and halo in local memory, up to 8 x 4 sums in each work-item's registers",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
