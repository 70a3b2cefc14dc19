// Sizes of what cnn_layer's variant implicit_gemm_split multiplies: the layer as a product of matrices whose inner
// dimension goes by chunks of 8 channels, its error bound, and what lies in memory for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tessera/ops/cnn_layer.h>
#include <tessera/ops/gemm.h>

#include "mathematics/cnn_layer_pool.h"
#include "mathematics/division.h"
#include "mathematics/gemm_split_bound.h"
#include "ops/cnn_layer/cnn_layer_split_arguments.h"

namespace tessera::cuda {

struct CnnLayerSplitSizes {
  explicit CnnLayerSplitSizes(const CnnLayer& problem)
      : products(problem.input_channels * problem.filter_height * problem.filter_width),
        channel_chunks(mathematics::ceil_div(problem.input_channels, std::int64_t{kCnnLayerChunk})),
        chunks(channel_chunks * problem.filter_height * problem.filter_width),
        steps(mathematics::round_up(chunks, std::int64_t{kCnnLayerChunkGroup}) * kCnnLayerChunk),
        image_columns(mathematics::has_plain_pool(problem) ? 4 * problem.output_height() * problem.output_width()
                                                           : problem.convolved_height() * problem.convolved_width()),
        outputs(problem.output_channels),
        plane_pixels(problem.height * problem.width) {}

  /// Weights as the A of a product that gemm prepares.
  [[nodiscard]] Gemm as_gemm() const { return with_layout({.m = outputs, .n = image_columns, .k = steps}); }
  /// The bound as a multiple of the strict algorithm's (docs/decisions/0030).
  [[nodiscard]] double error_factor() const {
    const auto k = static_cast<double>(steps);
    constexpr double kSecondOrder = 1 + 0x1p-8;
    const double roundings = mathematics::gemm_split_roundings(k, mathematics::GemmSplitKind::split, kSplitStep) +
                             mathematics::tiny_allowance(as_gemm());
    return std::max(1.0, kSecondOrder * roundings / static_cast<double>(products));
  }
  /// Chunks of an image.
  [[nodiscard]] std::int64_t image_bytes() const {
    return channel_chunks * kSplitPlanes * plane_pixels * kSplitChunkBytes;
  }
  [[nodiscard]] std::int64_t matrix_bytes() const { return outputs * steps * std::int64_t{sizeof(float)}; }
  [[nodiscard]] std::int64_t tiles(const SplitMmaShape& shape, std::int64_t images) const {
    return mathematics::ceil_div(outputs, std::int64_t{shape.tile_m()}) *
           mathematics::ceil_div(images * image_columns, std::int64_t{shape.tile_n()});
  }

  std::int64_t products;  ///< of a sum
  std::int64_t channel_chunks;
  std::int64_t chunks;  ///< along k
  std::int64_t steps;   ///< of k, with those that fill up the last group of chunks
  std::int64_t image_columns;
  std::int64_t outputs;
  std::int64_t plane_pixels;
};

}  // namespace tessera::cuda
