// Patches as rows, and bias and ReLU along channels, compiled once for every instruction set:
//
//     image row    pixel 0: a b c   pixel 1: a b c   pixel 2: a b c ..      a row of the filter over pixels 1 and 2 is
//                                   |---------- one run ----------|        one run of 2 * channels numbers
#include <algorithm>

#include "ops/cnn_layer/cnn_layer_pixel_rows.h"
#include "ops/gemm/gemm_register_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cnn_layer/cnn_layer_pixel_rows_pack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cnn_layer_pixel_rows_pack {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls whole(i) for every vector of `count` elements, and rest(i, n) for the n behind the last.
template <class T, class Whole, class Rest>
HWY_INLINE void for_vectors(std::int64_t count, const Whole& whole, const Rest& rest) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) whole(i);
  if (i < count) rest(i, count - i);
}

template <class T>
HWY_INLINE void copy_run(const T* HWY_RESTRICT source, std::int64_t count, T* HWY_RESTRICT target) {
  const hn::ScalableTag<T> d;
  for_vectors<T>(
      count, [&](std::int64_t i) HWY_ATTR { hn::StoreU(hn::LoadU(d, source + i), d, target + i); },
      [&](std::int64_t i, std::int64_t left) HWY_ATTR {
#if HWY_TARGET <= HWY_AVX3
        const auto shown = hn::FirstN(d, static_cast<std::size_t>(left));
        hn::BlendedStore(hn::MaskedLoad(shown, d, source + i), shown, d, target + i);
#else
        for (std::int64_t j = i; j < i + left; ++j) target[j] = source[j];
#endif
      });
}

template <class T>
HWY_INLINE void pack(const CnnOperands<T>& layer, const PatchesOfRows& patches, T* HWY_RESTRICT panel) {
  const CnnLayer& p = layer.problem;
  const std::int64_t channels = p.input_channels, run = p.filter_width * channels;
  const std::int64_t width = p.output_width(), height = p.output_height();
  std::int64_t x = patches.row % width, y = patches.row / width % height, image = patches.row / width / height;
  const bool is_whole = patches.first == 0 && patches.depth == p.filter_height * run;
  const std::int64_t first_i = patches.first / run, first_begin = patches.first % run;
  for (std::int64_t row = 0; row < patches.rows; ++row) {
    const std::int64_t left = x * p.stride - p.padding, top = y * p.stride - p.padding;
    const std::int64_t inside_from = std::max<std::int64_t>(-left, 0) * channels;
    const std::int64_t inside_to = std::min(p.width - left, p.filter_width) * channels;
    T* HWY_RESTRICT target = panel + row * kRegisterDepth<T>;
    std::int64_t begin = first_begin, left_to_pack = patches.depth;
    // Most patches lie inside of the image, and all of their products are asked for at once.
    if (is_whole && left >= 0 && top >= 0 && left + p.filter_width <= p.width && top + p.filter_height <= p.height) {
      const T* HWY_RESTRICT source =
          layer.input.data + image * layer.input.image_step + (top * p.width + left) * channels;
      for (std::int64_t i = 0; i < p.filter_height; ++i, source += p.width * channels, target += run)
        copy_run(source, run, target);
      left_to_pack = 0;
    }
    for (std::int64_t i = first_i; left_to_pack > 0; ++i, begin = 0) {
      const std::int64_t count = std::min(run - begin, left_to_pack);
      const std::int64_t image_row = top + i;
      if (image_row >= 0 && image_row < p.height) {
        const std::int64_t from = std::clamp(inside_from, begin, begin + count);
        const std::int64_t to = std::clamp(inside_to, from, begin + count);
        for (std::int64_t k = begin; k < from; ++k) target[k - begin] = T(0);
        copy_run(layer.input.data + image * layer.input.image_step + (image_row * p.width + left) * channels + from,
                 to - from, target + (from - begin));
        for (std::int64_t k = to; k < begin + count; ++k) target[k - begin] = T(0);
      } else {
        std::fill_n(target, count, T(0));
      }
      target += count;
      left_to_pack -= count;
    }
    if (++x < width) continue;
    x = 0;
    if (++y < height) continue;
    y = 0;
    ++image;
  }
}

template <class T>
HWY_INLINE void finish(T* HWY_RESTRICT sums, const T* HWY_RESTRICT bias, bool relu, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  for_vectors<T>(
      count,
      [&](std::int64_t i) HWY_ATTR {
        auto sum = hn::LoadU(d, sums + i);
        if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias + i));
        if (relu) sum = hn::IfThenElse(hn::Lt(sum, zero), zero, sum);
        hn::StoreU(sum, d, sums + i);
      },
      [&](std::int64_t i, std::int64_t left) HWY_ATTR {
#if HWY_TARGET <= HWY_AVX3
        const auto shown = hn::FirstN(d, static_cast<std::size_t>(left));
        auto sum = hn::MaskedLoad(shown, d, sums + i);
        if (bias != nullptr) sum = hn::Add(sum, hn::MaskedLoad(shown, d, bias + i));
        if (relu) sum = hn::IfThenElse(hn::Lt(sum, zero), zero, sum);
        hn::BlendedStore(sum, shown, d, sums + i);
#else
        for (std::int64_t j = i; j < i + left; ++j) {
          const T sum = bias == nullptr ? sums[j] : sums[j] + bias[j];
          sums[j] = relu ? cnn_rectified(sum) : sum;
        }
#endif
      });
}

template <class T>
HWY_INLINE void finish_all(const SumsOfPixels<T>& sums, const T* HWY_RESTRICT bias, bool relu) {
  for (std::int64_t pixel = 0; pixel < sums.pixels; ++pixel)
    finish(sums.first + pixel * sums.pixel_step, bias, relu, sums.channels);
}

void pack_patches_float32(const CnnOperands<float>& layer, const PatchesOfRows& patches, float* panel) {
  pack(layer, patches, panel);
}
void pack_patches_float64(const CnnOperands<double>& layer, const PatchesOfRows& patches, double* panel) {
  pack(layer, patches, panel);
}
void finish_pixels_float32(const SumsOfPixels<float>& sums, const float* bias, bool relu) {
  finish_all(sums, bias, relu);
}
void finish_pixels_float64(const SumsOfPixels<double>& sums, const double* bias, bool relu) {
  finish_all(sums, bias, relu);
}

}  // namespace cnn_layer_pixel_rows_pack
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(pack_patches_float32);
HWY_EXPORT(pack_patches_float64);
HWY_EXPORT(finish_pixels_float32);
HWY_EXPORT(finish_pixels_float64);

template <>
void pack_patches(const CnnOperands<float>& layer, const PatchesOfRows& patches, float* panel) {
  HWY_DYNAMIC_DISPATCH(pack_patches_float32)(layer, patches, panel);
}
template <>
void pack_patches(const CnnOperands<double>& layer, const PatchesOfRows& patches, double* panel) {
  HWY_DYNAMIC_DISPATCH(pack_patches_float64)(layer, patches, panel);
}
template <>
void finish_pixels(const SumsOfPixels<float>& sums, const float* bias, bool relu) {
  HWY_DYNAMIC_DISPATCH(finish_pixels_float32)(sums, bias, relu);
}
template <>
void finish_pixels(const SumsOfPixels<double>& sums, const double* bias, bool relu) {
  HWY_DYNAMIC_DISPATCH(finish_pixels_float64)(sums, bias, relu);
}

}  // namespace tessera::cpu_tbb
#endif
