// cnn_layer, subtile with loops as the published study began with (docs/studies/cnn_layer.md): the same cut as
// cnn_layer_subtile.cuh, but the sub-tile's size is a number that the kernel is given, so that its sums lie in memory.
//
//   kFilterOutermost     input channel and filter position outside, the sub-tile inside: each step reads the
//                        sub-tile's pixels and weights once, and adds channels x rows x columns products to sums in
//                        memory, channel after channel
//   else                 the sub-tile outside: sum after sum, each in a register while it grows; every product reads
//                        its pixel and its weight. kUnroll: the loop over the sub-tile's channels is unrolled
//   kAligned             the sums' array begins at a multiple of 128 bytes
//
// What cnn_layer_subtile.cuh gains is measured against these; they are for no other use.
#include "ops/cnn_layer/cnn_layer_store.cuh"
#include "ops/cnn_layer/cnn_layer_subtile_places.cuh"

namespace tessera::cuda {

/// The alignment in bytes that the published study tried for its sums.
constexpr int kSumsAlignment = 128;

template <class T>
using SumsInMemory = T[kCnnLayerMostSubChannels][kCnnLayerMostSubSide][kCnnLayerMostSubSide];

/// The pixel of a channel's plane; 0 outside of the image.
template <class T>
__device__ __forceinline__ T pixel_or_zero(const CnnLayerArguments<T>& layer, const T* plane, std::int64_t y,
                                           std::int64_t x) {
  const bool inside = y >= 0 && y < layer.height && x >= 0 && x < layer.width;
  return inside ? plane[(y * layer.width + x) * layer.input_strides.pixel] : T(0);
}

template <class T>
__device__ __forceinline__ void convolve_steps(const CnnLayerSubtileArguments<T>& tile, const T* image,
                                               const T* weights, std::int64_t y, std::int64_t x,
                                               SumsInMemory<T>& sums) {
  const CnnLayerArguments<T>& layer = tile.layer;
  // Whether row r and column s are the sub-tile's own; its pixels stay in registers, so these loops are unrolled.
  const auto for_each_place = [&](auto use) {
#pragma unroll
    for (int r = 0; r < kCnnLayerMostSubSide; ++r) {
#pragma unroll
      for (int s = 0; s < kCnnLayerMostSubSide; ++s) {
        if (r < tile.sub.rows && s < tile.sub.columns) use(r, s);
      }
    }
  };
  bool begins = tile.zeroed == 0 && layer.channels > 0;
  if (!begins) {
#pragma unroll 1
    for (int o = 0; o < tile.sub.channels; ++o) for_each_place([&](int r, int s) { sums[o][r][s] = 0; });
  }
  for (std::int64_t c = 0; c < layer.channels; ++c) {
    const T* const plane = image + c * layer.input_strides.channel;
    for (std::int64_t i = 0; i < layer.filter_height; ++i) {
      for (std::int64_t j = 0; j < layer.filter_width; ++j, weights += tile.weights_stride) {
        T pixels[kCnnLayerMostSubSide][kCnnLayerMostSubSide] = {};
        for_each_place([&](int r, int s) {
          pixels[r][s] = pixel_or_zero(layer, plane, y + r * layer.stride + i, x + s * layer.stride + j);
        });
#pragma unroll 1
        for (int o = 0; o < tile.sub.channels; ++o) {
          const T weight = weights[o];
          if (begins) {
            for_each_place([&](int r, int s) { sums[o][r][s] = weight * pixels[r][s]; });
          } else {
            for_each_place([&](int r, int s) { sums[o][r][s] += weight * pixels[r][s]; });
          }
        }
        begins = false;
      }
    }
  }
}

template <bool kUnroll, class T>
__device__ __forceinline__ void convolve_sums(const CnnLayerSubtileArguments<T>& tile, const T* image, const T* weights,
                                              std::int64_t y, std::int64_t x, SumsInMemory<T>& sums) {
  const CnnLayerArguments<T>& layer = tile.layer;
#pragma unroll(kUnroll ? kCnnLayerMostSubChannels : 1)
  for (int o = 0; o < kCnnLayerMostSubChannels; ++o) {
    if (o >= tile.sub.channels) break;
    for (int r = 0; r < tile.sub.rows; ++r) {
      for (int s = 0; s < tile.sub.columns; ++s) {
        const T* weight = weights + o;
        T sum = 0;
        for (std::int64_t c = 0; c < layer.channels; ++c) {
          const T* const plane = image + c * layer.input_strides.channel;
          for (std::int64_t i = 0; i < layer.filter_height; ++i) {
            for (std::int64_t j = 0; j < layer.filter_width; ++j, weight += tile.weights_stride) {
              sum += *weight * pixel_or_zero(layer, plane, y + r * layer.stride + i, x + s * layer.stride + j);
            }
          }
        }
        sums[o][r][s] = sum;
      }
    }
  }
}

/// Bias, ReLU and pool, in one loop or in three.
template <class T>
__device__ __forceinline__ void finish_and_store(const CnnLayerSubtileArguments<T>& tile, std::int64_t image,
                                                 std::int64_t channel, std::int64_t output_y, std::int64_t output_x,
                                                 SumsInMemory<T>& sums) {
  const CnnLayerArguments<T>& layer = tile.layer;
  const auto for_each_sum = [&](auto change) {
#pragma unroll 1
    for (int o = 0; o < tile.sub.channels && channel + o < layer.outputs; ++o) {
      for (int r = 0; r < tile.sub.rows; ++r) {
        for (int s = 0; s < tile.sub.columns; ++s) change(sums[o][r][s], o);
      }
    }
  };
  const bool fused = tile.fused != 0;
  if (!fused && layer.bias != nullptr) for_each_sum([&](T& sum, int o) { sum += layer.bias[channel + o]; });
  if (!fused && layer.relu) for_each_sum([&](T& sum, int) { sum = finished(sum, T(0), true); });
  const int pool = static_cast<int>(layer.pool_size);  // and the step to the next window, where there are several
#pragma unroll 1
  for (int o = 0; o < tile.sub.channels && channel + o < layer.outputs; ++o) {
    const T bias = fused && layer.bias != nullptr ? layer.bias[channel + o] : T(0);
    T* const plane = layer.output + image * layer.output_strides.image + (channel + o) * layer.output_strides.channel;
    for (int v = 0; v < tile.windows_y && output_y + v < layer.output_height; ++v) {
      for (int w = 0; w < tile.windows_x && output_x + w < layer.output_width; ++w) {
        T most = sums[o][v * pool][w * pool];
        for (int i = 0; i < pool; ++i) {
          for (int j = 0; j < pool; ++j) {
            if (i + j > 0) most = larger(most, sums[o][v * pool + i][w * pool + j]);
          }
        }
        plane[((output_y + v) * layer.output_width + output_x + w) * layer.output_strides.pixel] =
            finished(most, bias, fused && layer.relu);
      }
    }
  }
}

template <class T, bool kFilterOutermost, bool kUnroll, bool kAligned>
__device__ __forceinline__ void cnn_layer_subtile_loops(const CnnLayerSubtileArguments<T>& tile) {
  const CnnLayerArguments<T>& layer = tile.layer;
  for_each_subtile(tile, tile.sub.channels,
                   [&](std::int64_t image, std::int64_t channel, std::int64_t output_y, std::int64_t output_x) {
                     alignas(kAligned ? kSumsAlignment : alignof(T)) SumsInMemory<T> sums;
                     const T* const from = layer.input + image * layer.input_strides.image;
                     const std::int64_t y = first_pixel(layer, output_y);
                     const std::int64_t x = first_pixel(layer, output_x);
                     if constexpr (kFilterOutermost) {
                       convolve_steps(tile, from, layer.weights + channel, y, x, sums);
                     } else {
                       convolve_sums<kUnroll>(tile, from, layer.weights + channel, y, x, sums);
                     }
                     finish_and_store(tile, image, channel, output_y, output_x, sums);
                   });
}

}  // namespace tessera::cuda

#define TESSERA_CNN_LAYER_SUBTILE_LOOPS(name, aligned, T, type, outermost, unroll)         \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kCnnLayerSubtileThreads)     \
      tessera_cnn_layer_##name##_##type##_##outermost##_##unroll(                          \
          const __grid_constant__ tessera::cuda::CnnLayerSubtileArguments<T> tile) {       \
    tessera::cuda::cnn_layer_subtile_loops<T, outermost == 1, unroll == 1, aligned>(tile); \
  }
#define TESSERA_CNN_LAYER_SUBTILE_ALL(name, aligned, T, type)   \
  TESSERA_CNN_LAYER_SUBTILE_LOOPS(name, aligned, T, type, 1, 0) \
  TESSERA_CNN_LAYER_SUBTILE_LOOPS(name, aligned, T, type, 0, 0) \
  TESSERA_CNN_LAYER_SUBTILE_LOOPS(name, aligned, T, type, 0, 1)

TESSERA_CNN_LAYER_SUBTILE_ALL(subtile_loops, false, float, float32)
TESSERA_CNN_LAYER_SUBTILE_ALL(subtile_loops, false, double, float64)
TESSERA_CNN_LAYER_SUBTILE_ALL(subtile_loops_aligned, true, float, float32)
TESSERA_CNN_LAYER_SUBTILE_ALL(subtile_loops_aligned, true, double, float64)
