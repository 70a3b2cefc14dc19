// Where channels lie beside each other, the outputs of a layer without a pool are a matrix as they lie in memory, a row
// for each pixel, and so are its patches:
//
//                            prepared weights, in slivers      A chunk is a block of outputs, as gemm's "register"
//                             +--- 32 channels ---+            cuts them. Sums grow in the outputs themselves, step
//     patches of 14 pixels    | row 0: x x x ...  |  depth     after step of products; the last step adds bias and
//     +-- step of <= 192 --+  | row 1: x x x ...  |            ReLU while a panel's sums are in the cache, and where
//     | pixel 0: x x x ... |  +-------------------+            there is one step in registers. Nothing is turned, as
//     | pixel 1: x x x ... |  |  14 x 32 sums     |            it would be if pixels lay along the vectors.
//     +--------------------+  +-------------------+            A row of the filter takes pixels that lie beside each
//                                                              other, so a patch is copied in as many runs as the
// filter has rows. Filters of 1 x 1 take the image as the matrix that it is, and where few tiles read it not even a
// copy.
#include "ops/cnn_layer/cnn_layer_pixel_rows.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/gemm/gemm_register_blocks.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_register_steps.h"

namespace tessera::cpu_tbb {

namespace {

/// The slivers of one step are read again for each panel: they stay in a second-level cache of 1 MiB.
constexpr std::int64_t kMostSliverBytes = 768 * 1024;

/// The matrix of prepared weights, and the blocks of outputs.
template <class T>
class PixelRowsPlan {
 public:
  PixelRowsPlan(const CnnLayer& p, const Team& team)
      : taps_(p.filter_height * p.filter_width),
        steps_(EqualParts::of_at_most(p.input_channels * taps_, kRegisterDepth<T>)),
        tile_(register_tile<T>()),
        columns_(mathematics::round_up(p.output_channels, tile_.columns)),
        blocks_(register_blocks(p.batch * p.output_height() * p.output_width(), p.output_channels,
                                p.input_channels * taps_, tile_,
                                kMostSliverBytes / static_cast<std::int64_t>(sizeof(T)) / kRegisterDepth<T>, team)) {}
  [[nodiscard]] std::int64_t taps() const noexcept { return taps_; }
  [[nodiscard]] const EqualParts& steps() const noexcept { return steps_; }
  [[nodiscard]] const RegisterTile& tile() const noexcept { return tile_; }
  [[nodiscard]] const Blocks& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::int64_t slivers() const noexcept { return columns_ / tile_.columns; }
  /// The first of a step's prepared weights for channels from `column` on, a multiple of the tile's columns.
  [[nodiscard]] std::int64_t place(std::int64_t step, std::int64_t column) const noexcept {
    return steps_.first(step) * columns_ + column * steps_.size(step);
  }
  [[nodiscard]] std::size_t size_bytes() const noexcept {
    return sizeof(T) * static_cast<std::size_t>(steps_.whole * columns_);
  }

 private:
  std::int64_t taps_;
  EqualParts steps_;
  RegisterTile tile_;
  std::int64_t columns_;
  Blocks blocks_;
};

/// Prepares one sliver of one step. Raw weights of an output channel lie channel after channel, in each tap after tap;
/// prepared ones tap after tap, in each channel after channel.
template <class T>
void prepare_sliver(const PixelRowsPlan<T>& plan, const CnnLayer& p, std::int64_t step, std::int64_t sliver,
                    const T* raw, T* prepared) {
  const std::int64_t width = plan.tile().columns, depth = plan.steps().size(step), first = plan.steps().first(step);
  const std::int64_t column = sliver * width, products = plan.steps().whole;
  const std::int64_t used = std::min(width, p.output_channels - column);
  T* const target = prepared + plan.place(step, column);
  const T* const source = raw + column * products;
  if (plan.taps() == 1) {
    pack_slivers(ConstMatrix<T>{source + first, 1, products}, depth, used, target, width);
  } else {
    std::int64_t tap = first / p.input_channels, channel = first % p.input_channels;
    for (std::int64_t k = 0; k < depth; ++k) {
      const T* const weights = source + channel * plan.taps() + tap;
      for (std::int64_t j = 0; j < used; ++j) target[k * width + j] = weights[j * products];
      if (++channel < p.input_channels) continue;
      channel = 0;
      ++tap;
    }
  }
  if (used == width) return;
  for (std::int64_t k = 0; k < depth; ++k) std::fill_n(target + k * width + used, width - used, T(0));
}

/// Is the image the matrix of patches?
bool are_patches_pixels(const CnnLayer& p) {
  return p.filter_height == 1 && p.filter_width == 1 && p.stride == 1 && p.padding == 0;
}

/// Do outputs pass by the caches? Where they are many and of few products, memory's rate is the limit, and a line that
/// is written through the caches is read first. On two threads of an EPYC 1 -> 64 channels, 3 x 3, three images of
/// 256 x 256, take 0.7 of the time so and 3 -> 64, 224 x 224, 0.8; sums of 64 and 144 products take as long (without a
/// file).
template <class T>
bool is_streamed(const CnnOperands<T>& layer, const PixelRowsPlan<T>& plan, const RegisterBlock& block) {
  constexpr std::int64_t kMostProducts = 32, kManyBytes = 8 << 20, kLineBytes = 64;
  const CnnLayer& p = layer.problem;
  const auto size = static_cast<std::int64_t>(sizeof(T));
  return plan.steps().whole <= kMostProducts && p.output_channels * size % kLineBytes == 0 &&
         plan.tile().columns * size % kLineBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(layer.output.data + block.column) % kLineBytes == 0 &&
         p.batch * p.output_height() * p.output_width() >= kManyBytes / size / p.output_channels;
}

template <class T>
void compute_block(const CnnOperands<T>& layer, const PixelRowsPlan<T>& plan, const RegisterBlock& block) {
  const CnnLayer& p = layer.problem;
  const std::int64_t panels = mathematics::ceil_div(block.rows, plan.tile().rows);
  const ConstMatrix<T> pixels{layer.input.data, p.input_channels, 1};
  const bool are_pixels = are_patches_pixels(p);
  const bool is_in_place = are_pixels && is_read_in_place(pixels, plan.tile(), block.columns);
  alignas(64) T panel[kRegisterMostRows * kRegisterDepth<T>];
  PanelProduct<T> product;
  product.ldc = p.output_channels;
  product.columns = block.columns;
  product.b_step = plan.tile().columns;
  product.alpha = T(1);
  product.a_row_step = p.input_channels;
  product.a_depth_step = 1;
  const T* const bias = layer.bias == nullptr ? nullptr : layer.bias + block.column;
  // With a single step bias and ReLU are done before sums leave the registers.
  const bool is_one_step = plan.steps().parts == 1;
  if (is_one_step) {
    product.bias = bias;
    product.rectifies = p.relu;
    product.streams = is_streamed(layer, plan, block);
  }
  for (std::int64_t step = 0; step < plan.steps().parts; ++step) {
    const std::int64_t first = plan.steps().first(step);
    product.depth = plan.steps().size(step);
    product.beta = step == 0 ? T(0) : T(1);
    product.b = layer.weights + plan.place(step, block.column);
    product.sliver_step = plan.tile().columns * product.depth;
    std::int64_t row = block.row;
    for (std::int64_t i = 0; i < panels; ++i, row += product.rows) {
      product.rows = block.rows / panels + (i < block.rows % panels ? 1 : 0);
      product.c = layer.output.data + row * p.output_channels + block.column;
      product.a = is_in_place ? pixels.at(row, first) : panel;
      if (are_pixels) {
        product.next = source_of_panel(pixels, row + product.rows, first, i + 1 < panels ? product.rows : 0,
                                       i + 1 < panels ? product.depth : 0);
      }
      if (is_in_place) {
        multiply_panel_in_place(product);
      } else {
        if (are_pixels) {
          pack_panel(ConstMatrix<T>{pixels.at(row, first), pixels.row_step, 1}, product.rows, product.depth, panel,
                     kRegisterDepth<T>);
        } else {
          pack_patches(layer, {row, product.rows, first, product.depth}, panel);
        }
        multiply_panel(product);
      }
      if (is_one_step || step + 1 < plan.steps().parts || (!p.relu && bias == nullptr)) continue;
      finish_pixels<T>({product.c, product.ldc, product.rows, block.columns}, bias, p.relu);
    }
  }
  if (product.streams) hwy::FlushStream();
}

}  // namespace

template <class T>
std::unique_ptr<backend::Kernel> make_cnn_layer_pixel_rows(const CnnLayer& problem, const Team& team) {
  const PixelRowsPlan<T> plan(problem, team);
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes = plan.size_bytes();
  preparation.prepare = [plan, problem](Executor& executor, const std::byte* raw, std::byte* prepared) {
    executor.parallel_for(plan.steps().parts * plan.slivers(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        prepare_sliver(plan, problem, i / plan.slivers(), i % plan.slivers(), reinterpret_cast<const T*>(raw),
                       reinterpret_cast<T*>(prepared));
      }
    });
  };
  return make_cnn_layer_kernel<T>(
      problem,
      [plan](Executor& executor, const CnnOperands<T>& layer) {
        const CnnLayer& p = layer.problem;
        const Blocks& blocks = plan.blocks();
        const std::int64_t all_rows = p.batch * p.output_height() * p.output_width();
        executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t chunk = first; chunk < last; ++chunk) {
            RegisterBlock block{chunk % blocks.down * blocks.rows, chunk / blocks.down * blocks.columns, 0, 0};
            block.rows = std::min(blocks.rows, all_rows - block.row);
            block.columns = std::min(blocks.columns, p.output_channels - block.column);
            compute_block(layer, plan, block);
          }
        });
      },
      std::move(preparation));
}

template std::unique_ptr<backend::Kernel> make_cnn_layer_pixel_rows<float>(const CnnLayer&, const Team&);
template std::unique_ptr<backend::Kernel> make_cnn_layer_pixel_rows<double>(const CnnLayer&, const Team&);

}  // namespace tessera::cpu_tbb
