// What Winograd's algorithm saves on a card and what it pays for that, and how many tiles go at once.
#include "ops/cnn_layer/cnn_layer_winograd_choice.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/cnn_layer_winograd_savings.h"

namespace tessera::cuda {
namespace {

using backend::Verdict;
using mathematics::WinogradTileShape;

/// Transformed pixels and products of a chunk; more tiles at once mean fewer launches with idle multiprocessors at
/// their ends. The study's layer on an H200, in ms: 0.82 in chunks of 256 tiles (33 MB), 0.80 of 512 and 0.74 at once
/// (411 MB): staying in the L2 cache gains less than that costs.
constexpr std::int64_t kChunkBytes = std::int64_t{512} << 20;

/// Tiles that fill a card's groups for a few hundred channels.
constexpr std::int64_t kSmallestChunk = 256;

/// Products from which on four kernels are ahead of one, with 3 x 3 so many more for each pixel of a channel. On an
/// H200, 64 channels to 64, 3 x 3, take 17 us against 13 of implicit_gemm on one image of 56 x 56, 116e6 products, and
/// 38 against 64 on eight. On an H100 of 231e6 products, 3 x 3 on two images, 256 channels to 256 take 19 us against 25
/// on 14 x 14, 128 to 128 17.7 against 18.1 on 28 x 28, and 64 to 64 21 against 16 on 56 x 56. With 5 x 5 on an H200
/// 191 to 26 take 16.5 against 28.7 on 58 x 21, 186e6; without a file 11 to 9 take 32.8 against 27.7 on 78 x 238,
/// 163e6.
constexpr double kLeastProducts = 170e6, kProductsOfPixel = 90, kLeastProductsOf5 = 175e6;

/// Tiles of four columns from which on those of six gain: in smaller layers longer kernels of fewer groups lose. On an
/// H100 (without a committed file) 256 channels to 256, 5 x 5, take 125 us in 784 tiles of four columns and 140 with
/// six, 241 and 250 in 1764, and the study's layer, in 3136, 366 and 331; 512 to 512 take 327 and 357 in 1024, and 256
/// to 64 take 245 and 227 in 3364.
constexpr std::int64_t kLeastTilesOfSix = 2500;

}  // namespace

Verdict cnn_layer_winograd_pays(const CnnLayer& problem, const backend::Device&, std::optional<double> of_sums) {
  const bool is_3x3 = problem.filter_height == 3;
  std::string reason = mathematics::why_winograd_saves_too_little(
      problem, mathematics::cnn_layer_winograd_tiles(problem, of_sums).front(),
      is_3x3 ? kLeastProducts : kLeastProductsOf5, is_3x3 ? kProductsOfPixel : 0);
  return reason.empty() ? Verdict::yes() : Verdict::no(std::move(reason));
}

WinogradTileShape choose_winograd_shape(const CnnLayer& problem, const std::vector<WinogradTileShape>& shapes) {
  const auto tiles = [&](WinogradTileShape shape) {
    const CnnLayerWinogradTiling tiling(problem, shape);
    return tiling.all_tiles(problem.batch);
  };
  const auto points = [&](WinogradTileShape shape) {
    return tiles(shape) * CnnLayerWinogradTiling(problem, shape).points;
  };
  WinogradTileShape chosen = shapes.front();
  for (const WinogradTileShape shape : shapes) {
    if (shape.outputs_y != chosen.outputs_y) continue;
    if (points(shape) <= points(chosen) || tiles(shape) < kLeastTilesOfSix) chosen = shape;
  }
  return chosen;
}

Tunable cnn_layer_winograd_chunk(const CnnLayer& problem, WinogradTileShape shape) {
  const CnnLayerWinogradTiling tiling(problem, shape);
  const std::int64_t tiles = tiling.all_tiles(problem.batch);
  const std::int64_t tile_bytes =
      tiling.points * (problem.input_channels + problem.output_channels) * std::int64_t{sizeof(float)};
  Tunable chunk{"chunk", "tiles that are transformed, multiplied and transformed back at once", {}, kSmallestChunk};
  for (std::int64_t count = kSmallestChunk;; count *= 2) {
    if (count > kSmallestChunk && std::min(count, tiles) * tile_bytes > kChunkBytes) break;
    chunk.values.push_back(count);
    chunk.preferred = count;
    if (count >= tiles) break;
  }
  return chunk;
}

}  // namespace tessera::cuda
