// "implicit_gemm" for images whose channels lie beside each other: patches times weights, as rows of pixels.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu_tbb_executor.h"
#include "ops/cnn_layer/cnn_layer_operands.h"

namespace tessera::cpu_tbb {

/// Does "implicit_gemm" compute such a layer so? Sizes and the team have no say: weights are prepared for either way.
[[nodiscard]] inline bool is_computed_by_pixel_rows(const CnnLayer& p) noexcept {
  return p.layout == Layout::nhwc && p.pool_size == 1 && p.pool_step() == 1;
}

template <class T>
[[nodiscard]] std::unique_ptr<backend::Kernel> make_cnn_layer_pixel_rows(const CnnLayer& problem, const Team& team);

/// Products [first, first + depth) of each of `rows` sums. A sum's products are its patch as it lies in the image: row
/// after row of the filter, in it pixel after pixel, of each all channels. Sums are counted through all images.
struct PatchesOfRows {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t first = 0;
  std::int64_t depth = 0;
};
/// Copies them into a panel for gemm's register tile; pixels outside of the image are 0.
template <class T>
void pack_patches(const CnnOperands<T>& layer, const PatchesOfRows& patches, T* panel);

/// Sums of `channels` output channels of each of `pixels` pixels.
template <class T>
struct SumsOfPixels {
  T* first = nullptr;
  std::int64_t pixel_step = 0;
  std::int64_t pixels = 0;
  std::int64_t channels = 0;
};
/// Bias and ReLU where the sums are. Without a bias `bias` is null.
template <class T>
void finish_pixels(const SumsOfPixels<T>& sums, const T* bias, bool relu);

}  // namespace tessera::cpu_tbb
