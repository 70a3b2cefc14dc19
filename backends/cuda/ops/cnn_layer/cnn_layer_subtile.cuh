// cnn_layer, subtile: the scheme of the published study (docs/studies/cnn_layer.md), all four stages on a sub-tile in
// registers.
//
//   output                    a group  = a tile of channels x rows x columns, made of sub-tiles
//   +------+------+           a thread = one sub-tile after the other: the sums of its part of the convolution in
//   | tile |      |                      registers, then bias, ReLU and the pool on them
//   |+--+--+      |
//   ||st|st|      |           The loops over input channel and filter position are outermost, those over the sub-tile
//   |+--+--+      |           innermost and unrolled: a step reads rows x columns pixels and `channels` weights, which
//   +------+------+           lie beside each other once they are prepared, for channels x rows x columns products.
//                             No shared memory: neighbouring threads meet in L1.
//
// A sub-tile holds whole windows of the pool: all that fit for a 2 x 2 pool with stride 2, one for any other.
#pragma once

#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/cnn_layer/cnn_layer_subtile_arguments.h"
#include "ops/cnn_layer/cnn_layer_subtile_places.cuh"

namespace tessera::cuda {

template <class T, CnnLayerSubtile kSub>
struct SubtileSums {
  T sum[kSub.channels][kSub.rows][kSub.columns];
};

[[nodiscard]] __device__ __forceinline__ bool is_within(std::int64_t place, std::int64_t size) {
  return static_cast<std::uint64_t>(place) < static_cast<std::uint64_t>(size);
}

/// The products of the first step, the first input channel under the filter's corner, in the sums.
template <class T, CnnLayerSubtile kSub, bool kInside>
__device__ __forceinline__ void begin_sums(const CnnLayerArguments<T>& layer, const T* corner, const T* weights,
                                           std::int64_t y, std::int64_t x, SubtileSums<T, kSub>& sums) {
  T weight[kSub.channels];
#pragma unroll
  for (int o = 0; o < kSub.channels; ++o) weight[o] = weights[o];
#pragma unroll
  for (int s = 0; s < kSub.columns; ++s) {
    const bool has_column = kInside || is_within(x + s * layer.stride, layer.width);
#pragma unroll
    for (int r = 0; r < kSub.rows; ++r) {
      T value = 0;
      if (has_column && (kInside || is_within(y + r * layer.stride, layer.height)))
        value = corner[(r * layer.stride * layer.width + s * layer.stride) * layer.input_strides.pixel];
#pragma unroll
      for (int o = 0; o < kSub.channels; ++o) sums.sum[o][r][s] = weight[o] * value;
    }
  }
}

/// The convolution at row y, column x of the input for kSub.channels channels from `weights` on. kInside: no pixel lies
/// outside of the image. kZeroed: the sums are zeros already, else begin_sums begins them.
template <class T, CnnLayerSubtile kSub, bool kInside, bool kZeroed>
__device__ __forceinline__ void convolve_subtile(const CnnLayerSubtileArguments<T>& tile, const T* image,
                                                 const T* weights, std::int64_t y, std::int64_t x,
                                                 SubtileSums<T, kSub>& sums) {
  const CnnLayerArguments<T>& layer = tile.layer;
  const std::int64_t pixel = layer.input_strides.pixel;
  const std::int64_t row = layer.width * pixel;
  const T* const corner = image + y * row + x * pixel;
  std::int64_t first_j = 0;
  if constexpr (!kZeroed) {
    if (layer.channels == 0) {
      sums = {};
      return;
    }
    begin_sums<T, kSub, kInside>(layer, corner, weights, y, x, sums);
    weights += tile.weights_stride;
    first_j = 1;
  }
  for (std::int64_t c = 0; c < layer.channels; ++c) {
    for (std::int64_t i = 0; i < layer.filter_height; ++i) {
      const T* place = corner + c * layer.input_strides.channel + i * row;
      if constexpr (!kZeroed) place += first_j * pixel;
      bool has_row[kSub.rows];
#pragma unroll
      for (int r = 0; r < kSub.rows; ++r) has_row[r] = kInside || is_within(y + r * layer.stride + i, layer.height);
      for (std::int64_t j = first_j; j < layer.filter_width; ++j, place += pixel, weights += tile.weights_stride) {
        T weight[kSub.channels];
#pragma unroll
        for (int o = 0; o < kSub.channels; ++o) weight[o] = weights[o];
#pragma unroll
        for (int s = 0; s < kSub.columns; ++s) {
          const bool has_column = kInside || is_within(x + s * layer.stride + j, layer.width);
#pragma unroll
          for (int r = 0; r < kSub.rows; ++r) {
            T value = 0;
            if (has_row[r] && has_column) value = place[r * layer.stride * row + s * layer.stride * pixel];
#pragma unroll
            for (int o = 0; o < kSub.channels; ++o) sums.sum[o][r][s] += weight[o] * value;
          }
        }
      }
      if constexpr (!kZeroed) first_j = 0;
    }
  }
}

/// Bias and ReLU of every sum, each in a loop of its own, before the pool.
template <class T, CnnLayerSubtile kSub>
__device__ __forceinline__ void finish_sums(const CnnLayerArguments<T>& layer, std::int64_t channel,
                                            SubtileSums<T, kSub>& sums) {
  const auto for_each_sum = [&](auto change) {
#pragma unroll
    for (int o = 0; o < kSub.channels; ++o) {
#pragma unroll
      for (int r = 0; r < kSub.rows; ++r) {
#pragma unroll
        for (int s = 0; s < kSub.columns; ++s) change(sums.sum[o][r][s], channel + o);
      }
    }
  };
  if (layer.bias != nullptr) {
    for_each_sum([&](T& sum, std::int64_t output) { sum += output < layer.outputs ? layer.bias[output] : T(0); });
  }
  if (layer.relu) for_each_sum([&](T& sum, std::int64_t) { sum = finished(sum, T(0), true); });
}

/// Where a sub-tile's windows are stored.
template <class T>
struct Windows {
  const CnnLayerArguments<T>& layer;
  std::int64_t image;
  std::int64_t channel;
  std::int64_t y;
  std::int64_t x;
};

/// Stores the output of one window whose corner is sum (r, s) of channel o.
template <int kPool, class T, CnnLayerSubtile kSub>
__device__ __forceinline__ void store_of_window(const CnnLayerArguments<T>& layer, T* plane, T bias, bool relu,
                                                std::int64_t y, std::int64_t x, const SubtileSums<T, kSub>& sums, int o,
                                                int r, int s) {
  if (y >= layer.output_height || x >= layer.output_width) return;
  T most = sums.sum[o][r][s];
#pragma unroll
  for (int i = 0; i < kPool; ++i) {
#pragma unroll
    for (int j = 0; j < kPool; ++j) {
      if (i + j > 0) most = larger(most, sums.sum[o][r + i][s + j]);
    }
  }
  plane[(y * layer.output_width + x) * layer.output_strides.pixel] = finished(most, bias, relu);
}

/// Windows of kPool x kPool in steps of kStep, as many as the sub-tile holds. kFused: bias and ReLU are not in the
/// sums yet.
template <int kPool, int kStep, bool kFused, class T, CnnLayerSubtile kSub>
__device__ __forceinline__ void store_windows(const Windows<T>& windows, const SubtileSums<T, kSub>& sums) {
  if constexpr (kPool <= kSub.rows && kPool <= kSub.columns) {
    const CnnLayerArguments<T>& layer = windows.layer;
#pragma unroll
    for (int o = 0; o < kSub.channels; ++o) {
      const std::int64_t channel = windows.channel + o;
      if (channel >= layer.outputs) return;
      const T bias = kFused && layer.bias != nullptr ? layer.bias[channel] : T(0);
      T* const plane =
          layer.output + windows.image * layer.output_strides.image + channel * layer.output_strides.channel;
#pragma unroll
      for (int r = 0; r + kPool <= kSub.rows; r += kStep) {
#pragma unroll
        for (int s = 0; s + kPool <= kSub.columns; s += kStep) {
          store_of_window<kPool>(layer, plane, bias, kFused && layer.relu, windows.y + r / kStep, windows.x + s / kStep,
                                 sums, o, r, s);
        }
      }
    }
  }
}

template <class T, CnnLayerSubtile kSub, CnnLayerSubtileForm kForm>
__device__ __forceinline__ void cnn_layer_subtile(const CnnLayerSubtileArguments<T>& tile) {
  const CnnLayerArguments<T>& layer = tile.layer;
  constexpr int kOneWindow = 1 << 20;
  for_each_subtile(tile, kSub.channels,
                   [&](std::int64_t image, std::int64_t channel, std::int64_t output_y, std::int64_t output_x) {
                     SubtileSums<T, kSub> sums;
                     if constexpr (kForm.zeroed) sums = {};
                     const std::int64_t y = first_pixel(layer, output_y);
                     const std::int64_t x = first_pixel(layer, output_x);
                     const T* const from = layer.input + image * layer.input_strides.image;
                     const bool is_inside = y >= 0 && x >= 0 &&
                                            y + (kSub.rows - 1) * layer.stride + layer.filter_height <= layer.height &&
                                            x + (kSub.columns - 1) * layer.stride + layer.filter_width <= layer.width;
                     if (is_inside) {
                       convolve_subtile<T, kSub, true, kForm.zeroed>(tile, from, layer.weights + channel, y, x, sums);
                     } else {
                       convolve_subtile<T, kSub, false, kForm.zeroed>(tile, from, layer.weights + channel, y, x, sums);
                     }
                     if constexpr (!kForm.fused) finish_sums(layer, channel, sums);
                     const Windows<T> windows{layer, image, channel, output_y, output_x};
                     if (layer.pool_size == 1) {
                       store_windows<1, 1, kForm.fused>(windows, sums);
                     } else if (layer.pool_size == 2 && layer.pool_stride == 2) {
                       store_windows<2, 2, kForm.fused>(windows, sums);
                     } else if (layer.pool_size == 2) {
                       store_windows<2, kOneWindow, kForm.fused>(windows, sums);
                     } else {
                       store_windows<3, kOneWindow, kForm.fused>(windows, sums);
                     }
                   });
}

}  // namespace tessera::cuda

// `name`: subtile, with what of the form is not preferred: subtile_split_begun.
#define TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, T, type, channels, rows, columns)         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerSubtileThreads)           \
      tessera_cnn_layer_##name##_##type##_##channels##_##rows##_##columns(                       \
          const __grid_constant__ tessera::cuda::CnnLayerSubtileArguments<T> tile) {             \
    tessera::cuda::cnn_layer_subtile<T, tessera::cuda::CnnLayerSubtile{channels, rows, columns}, \
                                     tessera::cuda::CnnLayerSubtileForm{fused, zeroed}>(tile);   \
  }
// Every height and width of a sub-tile that is compiled.
#define TESSERA_CNN_LAYER_FLOATS(name, fused, zeroed, channels)                  \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 1, 1) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 1, 2) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 1, 4) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 2, 1) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 2, 2) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 2, 4) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 4, 1) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 4, 2) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, float, float32, channels, 4, 4)
#define TESSERA_CNN_LAYER_DOUBLES(name, fused, zeroed, channels)                  \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, double, float64, channels, 2, 2) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, double, float64, channels, 2, 4) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, double, float64, channels, 4, 2) \
  TESSERA_CNN_LAYER_SUBTILE(name, fused, zeroed, double, float64, channels, 4, 4)
