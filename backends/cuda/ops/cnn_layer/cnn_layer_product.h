// A layer's convolution as the product of matrices that implicit_gemm computes: how many rows, columns and steps, and
// how many images at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <tessera/ops/cnn_layer.h>
#include <tessera/ops/gemm.h>

#include "ops/cnn_layer/cnn_layer_gemm_arguments.h"
#include "ops/cnn_layer/cnn_layer_limits.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/gemm/gemm_register_shapes.h"

namespace tessera::cuda {

/// The largest filter, in rows and columns, for which steps come from a table: its places fit 16 bits, and the table
/// stays short.
inline constexpr std::int64_t kCnnLayerLargestTableFilter = 256;

/// The convolution as a product of matrices.
struct CnnLayerProduct {
  explicit CnnLayerProduct(const CnnLayer& problem)
      : is_wide(suits_groups_of_channels(problem)),
        chunk(is_wide ? kCnnLayerGroup : 1),
        steps(problem.input_channels * problem.filter_height * problem.filter_width),
        groups(is_wide ? ceil_div(problem.input_channels, chunk) * problem.filter_height * problem.filter_width
                       : ceil_div(steps, kCnnLayerGroup)),
        image_columns(has_plain_pool(problem) ? 4 * problem.output_height() * problem.output_width()
                                              : problem.convolved_height() * problem.convolved_width()),
        output_channels(problem.output_channels) {}

  /// Are groups of 16 channels nearly full? Else the steps come from a table, as far as that can hold them.
  [[nodiscard]] static bool suits_groups_of_channels(const CnnLayer& problem) {
    const std::int64_t channels = problem.input_channels;
    const bool is_full = ceil_div(channels, kCnnLayerGroup) * kCnnLayerGroup <= channels + channels / 4;
    const bool fits_table = channels * problem.height * problem.width <= std::numeric_limits<std::int32_t>::max() &&
                            problem.filter_height <= kCnnLayerLargestTableFilter &&
                            problem.filter_width <= kCnnLayerLargestTableFilter;
    return is_full || !fits_table;
  }

  [[nodiscard]] std::int64_t tiles(const GemmRegisterShape& shape, std::int64_t images) const {
    return ceil_div(output_channels, shape.tile_m) * ceil_div(images * image_columns, shape.tile_n);
  }
  /// The same as a problem of gemm, for the model that chooses a shape. Its rows are such that the model does not add
  /// what unaligned ones cost, since the layer's operands are read in another way.
  [[nodiscard]] Gemm as_gemm(DataType type, std::int64_t images) const {
    constexpr std::int64_t kAligned = 4;
    return with_layout({.m = output_channels,
                        .n = ceil_div(std::max<std::int64_t>(images, 1) * image_columns, kAligned) * kAligned,
                        .k = groups * kCnnLayerGroup,
                        .type = type,
                        .transpose_a = true,
                        .lda = ceil_div(output_channels, kAligned) * kAligned});
  }

  bool is_wide;         ///< groups of 16 channels, not of steps in the order of the weights
  std::int64_t chunk;   ///< channels of a place that follow each other
  std::int64_t steps;   ///< along k, without those that fill up groups
  std::int64_t groups;  ///< of steps along k
  std::int64_t image_columns;
  std::int64_t output_channels;
};

/// Images of one launch: as many as a workspace of so many bytes an image allows, as can be numbered in 31 bits, and as
/// a grid takes tiles.
[[nodiscard]] inline std::int64_t images_of_launch(const CnnLayerProduct& product, const GemmRegisterShape& shape,
                                                   std::int64_t batch, std::size_t image_bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t images = kMost / 2 / product.image_columns;
  if (image_bytes > 0) {
    images = std::min(images, kCnnLayerLargestWorkspace / static_cast<std::int64_t>(image_bytes));
  }
  images = std::clamp<std::int64_t>(images, 1, std::max<std::int64_t>(batch, 1));
  while (images > 1 && product.tiles(shape, images) > kMost) images /= 2;
  return images;
}

}  // namespace tessera::cuda
