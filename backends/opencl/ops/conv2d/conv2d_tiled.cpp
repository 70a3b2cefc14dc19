// conv2d, tiled: tile and halo in local memory, the tile's edge a tunable. See conv2d_tiled.cl.
#include <algorithm>
#include <array>

#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

/// A group of 256 fits every device's registers; larger ones are not worth asking the compiled kernel.
constexpr std::array<std::int64_t, 2> kTiles{8, 16};

std::size_t local_bytes(const Conv2d& problem, std::int64_t tile) {
  return static_cast<std::size_t>((tile + problem.filter_height - 1) * (tile + problem.filter_width - 1)) *
         sizeof(std::uint32_t);
}

backend::Verdict check_tile(const Conv2d& problem, const DeviceInfo& info, std::int64_t tile) {
  const auto edge = static_cast<std::uint64_t>(tile);
  const std::string with_tile = "conv2d with tile = " + std::to_string(tile);
  if (edge * edge > info.max_group_size || edge > info.max_group_extent[0] || edge > info.max_group_extent[1]) {
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) + ", but '" +
                                info.name + "' allows " + std::to_string(info.max_group_size));
  }
  if (local_bytes(problem, tile) > info.local_memory_bytes) {
    return backend::Verdict::no(with_tile + " takes " + std::to_string(local_bytes(problem, tile)) +
                                " bytes of local memory, but '" + info.name + "' has " +
                                std::to_string(info.local_memory_bytes));
  }
  return check_groups(with_tile, conv2d_blocks(problem, tile, tile));
}

backend::Verdict check(const Conv2d& problem, const backend::Device& device) {
  return check_tile(problem, native(device).facts().info, kTiles.front());
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable tile{.name = "tile", .meaning = "edge of the square tile of the output, in pixels", .values = {}};
  for (const std::int64_t value : kTiles) {
    if (check_tile(problem, native(device).facts().info, value)) tile.values.push_back(value);
  }
  tile.preferred = tile.values.back();
  return {tile};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const OpenclDevice& opencl = native(device);
  const std::int64_t tile = tuning.at("tile");
  auto kernel =
      opencl.kernel(conv2d_program("conv2d_tiled", embedded::conv2d_tiled, problem, " -DTILE=" + std::to_string(tile)));
  kernel->set(kConv2dWeights + 1, local_bytes(problem, tile), nullptr);
  return bind_conv2d_weights(conv2d_launch(std::move(kernel), problem, {tile, tile, tile, tile}),
                             conv2d_weight_bits(problem, problem.filter), device);
}

}  // namespace

backend::Variant<Conv2d> conv2d_tiled() {
  return {.name = "tiled",
          .summary = "tile and halo in local memory, one work-item a pixel",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
