// conv2d, tiled: tile and halo in local memory, the tile's edge a tunable. See conv2d_tiled.cl.
#include <algorithm>
#include <array>

#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

namespace tessera::opencl {

namespace {

constexpr std::array<std::int64_t, 3> kTiles{8, 16, 32};
constexpr std::int64_t kPreferredTile = 16;
/// Groups up to this size fit every device's registers. Above it the compiled kernel is asked, which costs a build.
constexpr std::int64_t kTrustedGroupSize = 256;

std::size_t local_bytes(const Conv2d& problem, std::int64_t tile) {
  return static_cast<std::size_t>((tile + problem.filter_height - 1) * (tile + problem.filter_width - 1)) *
         sizeof(std::uint32_t);
}

std::unique_ptr<CompiledKernel> compile(const Conv2d& problem, const OpenclDevice& device, std::int64_t tile) {
  return device.kernel(
      conv2d_program("conv2d_tiled", embedded::conv2d_tiled, problem, " -DTILE=" + std::to_string(tile)));
}

backend::Verdict check_tile(const Conv2d& problem, const OpenclDevice& device, std::int64_t tile) {
  const DeviceInfo& info = device.facts().info;
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
  backend::Verdict enough = check_groups(with_tile, conv2d_blocks(problem, tile, tile));
  if (!enough || tile * tile <= kTrustedGroupSize) return enough;
  try {
    const std::uint64_t limit = compile(problem, device, tile)->max_group_size();
    if (edge * edge <= limit) return backend::Verdict::yes();
    return backend::Verdict::no(with_tile + " takes work-groups of " + std::to_string(edge * edge) +
                                ", but compiled for '" + info.name + "' it allows " + std::to_string(limit));
  } catch (const Error& error) {
    return backend::Verdict::no(with_tile + " is refused: " + error.sentence());
  }
}

backend::Verdict check(const Conv2d& problem, const backend::Device& device) {
  return check_tile(problem, native(device), kTiles.front());
}

/// Where there is no local memory but the caches, a tile costs a copy and saves some arithmetic for each row of the
/// filter and a little for each product. In units of a tenth of a product, by the shortest times on PoCL 3.1, two cores
/// of a Sapphire Rapids, without a committed file. On 64 x 256 pixels of float32 naive takes 0.5 to 0.7 of tiled's time
/// for one row of up to 13, 0.6 to 1.1 for 3 rows of 2 to 6 and 1.0 to 1.2 for 5 rows of 2 and more; columns of 9 to 21
/// take it 1.2 to 1.8 on images. On 500 x 600 pixels, on two cores of an AMD EPYC, it takes 0.8 for 4 x 4. Where no
/// window passes the image's edge, naive has nothing to test, and takes there 0.8 for 4 x 4, 0.9 for 6 x 6, 8 x 8 and
/// 4 x 17, 1.0 for 8 x 3 and 9 x 5. Intel's runtime makes vectors of the items of either, and tiled is as fast or
/// faster with any filter.
backend::Verdict pays(const Conv2d& problem, const backend::Device& device) {
  constexpr std::int64_t kOfRow = 15, kOfProduct = 1, kOfCopy = 85;
  const DeviceFacts& facts = native(device).facts();
  if (!facts.is_pocl || facts.info.kind != DeviceKind::cpu) return backend::Verdict::yes();
  if (problem.border == Border::valid) {
    return backend::Verdict::no(backend::sentence("no window of conv2d passes the image's edge, and on '",
                                                  facts.info.name, "' by PoCL naive is as fast without a copy"));
  }
  if (problem.filter_height * (kOfRow + kOfProduct * problem.filter_width) >= kOfCopy) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("conv2d has a filter of ", problem.filter_height, " x ",
                                                problem.filter_width, ", but on '", facts.info.name,
                                                "' by PoCL a tile is worth its copy for more rows, or longer ones"));
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable tile{.name = "tile", .meaning = "edge of the square tile of the output, in pixels", .values = {}};
  for (const std::int64_t value : kTiles) {
    if (check_tile(problem, native(device), value)) tile.values.push_back(value);
  }
  const bool has_preferred = std::find(tile.values.begin(), tile.values.end(), kPreferredTile) != tile.values.end();
  tile.preferred = has_preferred ? kPreferredTile : tile.values.front();
  return {tile};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
  const OpenclDevice& opencl = native(device);
  const std::int64_t tile = tuning.at("tile");
  auto kernel = compile(problem, opencl, tile);
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
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
