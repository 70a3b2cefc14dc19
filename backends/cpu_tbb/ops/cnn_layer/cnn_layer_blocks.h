// How the variants that compute in vectors cut a layer into chunks: blocks of pooled outputs, and groups of output
// channels.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/ops/cnn_layer.h>

#include "mathematics/division.h"

namespace tessera::cpu_tbb {

/// A rectangle of pooled outputs, of one image or of several that follow each other, and the sums that they need.
struct CnnBlock {
  std::int64_t image = 0;
  std::int64_t images = 1;
  std::int64_t y = 0;  ///< of outputs
  std::int64_t x = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t sum_y = 0;  ///< of sums, before the pool
  std::int64_t sum_x = 0;
  std::int64_t sum_rows = 0;
  std::int64_t sum_columns = 0;
};

/// Blocks of `rows` x `columns` outputs of `images` images, those at the ends smaller.
struct CnnBlocks {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t images = 1;

  [[nodiscard]] std::int64_t down(const CnnLayer& p) const noexcept {
    return mathematics::ceil_div(p.output_height(), rows);
  }
  [[nodiscard]] std::int64_t across(const CnnLayer& p) const noexcept {
    return mathematics::ceil_div(p.output_width(), columns);
  }
  [[nodiscard]] std::int64_t count(const CnnLayer& p) const noexcept {
    return mathematics::ceil_div(p.batch, images) * down(p) * across(p);
  }
  [[nodiscard]] CnnBlock block(const CnnLayer& p, std::int64_t number) const noexcept {
    CnnBlock block;
    block.x = number % across(p) * columns;
    block.y = number / across(p) % down(p) * rows;
    block.image = number / across(p) / down(p) * images;
    block.images = std::min(images, p.batch - block.image);
    block.rows = std::min(rows, p.output_height() - block.y);
    block.columns = std::min(columns, p.output_width() - block.x);
    block.sum_y = block.y * p.pool_stride;
    block.sum_x = block.x * p.pool_stride;
    block.sum_rows = sums(p, block.rows);
    block.sum_columns = sums(p, block.columns);
    return block;
  }
  /// How many sums in a row `outputs` side by side need.
  [[nodiscard]] static std::int64_t sums(const CnnLayer& p, std::int64_t outputs) noexcept {
    return (outputs - 1) * p.pool_stride + p.pool_size;
  }
};

}  // namespace tessera::cpu_tbb
