// The variant "subtile": the study's scheme on a CPU. A task computes a block of output channels x rows x columns of
// pooled outputs; its sums lie in a buffer that stays in the first- or second-level cache, and all four stages run on
// it.
//
//     for each input channel, filter row, filter column:            the two outermost loops, as the study found best
//       for each output channel of the block:                       one weight, kept in a register
//         for each row of sums:                                     one run of the input, added to one run of sums
//           sums[row][0..columns) += weight * input[row][0..columns)
//     then bias, ReLU and the larger of each window, on the same sums
//
// An input pixel of the block is read from memory once for each block of channels and, from the cache, once for each
// weight; a sum is read and written once for each product, which is what a register tile saves. The run over columns is
// left to the compiler's vectors where the layout has them beside each other.
#include <algorithm>
#include <vector>

#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_operands.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

namespace {

struct Tile {
  std::int64_t channels;
  std::int64_t rows;
  std::int64_t columns;
};

/// A block of sums: what the pooled outputs [y, y + rows) x [x, x + columns) of the channels need.
struct Block {
  std::int64_t image;
  std::int64_t channel;
  std::int64_t channels;
  std::int64_t top;
  std::int64_t left;
  std::int64_t rows;
  std::int64_t columns;
};

/// The first and the past-the-last of `count` sums from `first` on whose pixel for filter line `i` lies in the image.
struct Range {
  std::int64_t first;
  std::int64_t last;
};
Range inside(const CnnLayer& p, std::int64_t first, std::int64_t count, std::int64_t i, std::int64_t size) {
  // 0 <= (first + k) * stride + i - padding < size
  const std::int64_t offset = first * p.stride + i - p.padding;
  const std::int64_t from = offset >= 0 ? 0 : mathematics::ceil_div(-offset, p.stride);
  const std::int64_t until = size <= offset ? 0 : mathematics::ceil_div(size - offset, p.stride);
  return {std::min(from, count), std::min(std::max(until, std::int64_t{0}), count)};
}

/// Adds one weight's products to one row of sums. Steps of 1 are told to the compiler.
template <class T>
void add_row(T* sums, T weight, const T* pixels, std::int64_t step, std::int64_t count) noexcept {
  if (step == 1) {
    for (std::int64_t x = 0; x < count; ++x) sums[x] += weight * pixels[x];
  } else {
    for (std::int64_t x = 0; x < count; ++x) sums[x] += weight * pixels[x * step];
  }
}

/// All sums of a block, without bias, as channels x rows x columns.
template <class T>
void sum_block(const CnnOperands<T>& layer, const Block& block, T* sums) noexcept {
  const CnnLayer& p = layer.problem;
  const std::int64_t filter = p.filter_height * p.filter_width;
  std::fill_n(sums, block.channels * block.rows * block.columns, T(0));
  for (std::int64_t c = 0; c < p.input_channels; ++c) {
    for (std::int64_t i = 0; i < p.filter_height; ++i) {
      const Range rows = inside(p, block.top, block.rows, i, p.height);
      for (std::int64_t j = 0; j < p.filter_width; ++j) {
        const Range columns = inside(p, block.left, block.columns, j, p.width);
        if (rows.first >= rows.last || columns.first >= columns.last) continue;
        const T* const corner = layer.input.at(block.image, c, (block.top + rows.first) * p.stride + i - p.padding,
                                               (block.left + columns.first) * p.stride + j - p.padding);
        const T* const weights =
            layer.weights + (block.channel * p.input_channels + c) * filter + i * p.filter_width + j;
        for (std::int64_t o = 0; o < block.channels; ++o) {
          const T weight = weights[o * p.input_channels * filter];
          T* row = sums + (o * block.rows + rows.first) * block.columns + columns.first;
          const T* pixels = corner;
          for (std::int64_t y = rows.first; y < rows.last; ++y) {
            add_row(row, weight, pixels, p.stride * layer.input.column_step, columns.last - columns.first);
            row += block.columns;
            pixels += p.stride * layer.input.row_step;
          }
        }
      }
    }
  }
}

/// Bias, ReLU and pool of a block's sums, for outputs from (y, x) on.
template <class T>
void finish_block(const CnnOperands<T>& layer, const Block& block, const T* sums, std::int64_t y, std::int64_t x,
                  std::int64_t rows, std::int64_t columns) noexcept {
  const CnnLayer& p = layer.problem;
  for (std::int64_t o = 0; o < block.channels; ++o) {
    const T bias = layer.bias_of(block.channel + o);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        const T* const window = sums + (o * block.rows + row * p.pool_stride) * block.columns + column * p.pool_stride;
        T largest = window[0] + bias;
        for (std::int64_t i = 0; i < p.pool_size; ++i) {
          for (std::int64_t j = 0; j < p.pool_size; ++j)
            largest = cnn_larger(largest, window[i * block.columns + j] + bias);
        }
        *layer.output.at(block.image, block.channel + o, y + row, x + column) =
            p.relu ? cnn_rectified(largest) : largest;
      }
    }
  }
}

template <class T>
void compute(Executor& executor, const CnnOperands<T>& layer, const Tile& asked) {
  const CnnLayer& p = layer.problem;
  const Tile tile{std::min(asked.channels, p.output_channels), std::min(asked.rows, p.output_height()),
                  std::min(asked.columns, p.output_width())};
  const std::int64_t down = mathematics::ceil_div(p.output_height(), tile.rows);
  const std::int64_t across = mathematics::ceil_div(p.output_width(), tile.columns);
  const std::int64_t deep = mathematics::ceil_div(p.output_channels, tile.channels);
  const auto sums_of = [&](std::int64_t outputs) { return (outputs - 1) * p.pool_stride + p.pool_size; };
  const auto size = static_cast<std::size_t>(tile.channels * sums_of(tile.rows) * sums_of(tile.columns));
  executor.parallel_for(p.batch * deep * down * across, [&](std::int64_t first, std::int64_t last) {
    const ScratchPool::Loan loan(executor.scratch(), size * sizeof(T));
    T* const sums = reinterpret_cast<T*>(loan.data());
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const std::int64_t x = chunk % across * tile.columns;
      const std::int64_t y = chunk / across % down * tile.rows;
      const std::int64_t channel = chunk / across / down % deep * tile.channels;
      const std::int64_t rows = std::min(tile.rows, p.output_height() - y);
      const std::int64_t columns = std::min(tile.columns, p.output_width() - x);
      const Block block{chunk / across / down / deep,
                        channel,
                        std::min(tile.channels, p.output_channels - channel),
                        y * p.pool_stride,
                        x * p.pool_stride,
                        sums_of(rows),
                        sums_of(columns)};
      sum_block(layer, block, sums);
      finish_block(layer, block, sums, y, x, rows, columns);
    }
  });
}

std::vector<Tunable> tunables(const CnnLayer&, const backend::Device&) {
  return {{"tile_channels", "output channels of a task", {1, 4, 8, 16, 32}, 8},
          {"tile_rows", "rows of pooled outputs of a task", {1, 4, 8, 16}, 4},
          {"tile_columns", "columns of pooled outputs of a task", {8, 32, 64, 128}, 64}};
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_subtile() {
  return {
      .name = "subtile",
      .summary = "blocks of channels x rows x columns as tasks, input channel and filter position outermost",
      .check = [](const CnnLayer&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = tunables,
      .make =
          [](const CnnLayer& problem, backend::Device&, const Tuning& tuning) {
            const Tile tile{tuning.at("tile_channels"), tuning.at("tile_rows"), tuning.at("tile_columns")};
            return make_cnn_layer_kernel(problem, [tile]<class T>(Executor& executor, const CnnOperands<T>& layer) {
              compute(executor, layer, tile);
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
