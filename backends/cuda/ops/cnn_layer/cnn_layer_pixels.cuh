// How cnn_layer's variant implicit_gemm brings pixels into shared memory, as the matrix that gemm would call B: a row
// for each step along k, which is a channel at a place of the filter, a column for each pixel of the convolution.
//
//        column: a pixel of the           Columns are numbered so that four neighbours, which one thread computes, are
//        convolution                      what is stored together: one window of a 2 x 2 pool, or four pixels of a row.
//        +-----------------------+
//   step | image(channel,        | group  Steps come in groups of 16. In a `wide` layer a group is 16 channels at one
//        |   y * stride + i,     |        place (i, j) of the filter: a thread asks once a group whether the place lies
//        |   x * stride + j)     |        inside of the image, and only adds from channel to channel. All places come
//        +-----------------------+        before the next 16 channels, so that a tile's pixels of 16 channels stay in
//        |                       | next   the L1 cache while the filter moves over them. With few channels that would
//        +-----------------------+        multiply many zeros: there the steps are those of the weights, channel by
//                                         channel, row by row, and where each lies is read from a table.
//
// The threads that share a column fetch neighbouring steps; neighbouring threads fetch neighbouring columns, one
// element each, because a filter moves by single pixels. What lies outside of the image, behind the last channel or
// behind the last step is 0 and not read.
#pragma once

#include <type_traits>

#include "ops/cnn_layer/cnn_layer_gemm_arguments.h"
#include "ops/cnn_layer/cnn_layer_pixel_place.cuh"
#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

/// Where the filter lies in the image for one column.
template <class T>
struct PixelColumn : PixelPlace {
  const T* source;  ///< the pixel under the filter's corner, or the input's first where that is nowhere

  __device__ PixelColumn(const CnnLayerGemmArguments<T>& layer, int column)
      : PixelPlace(layer, column), source(layer.input) {
    if (column < layer.columns) source += image * layer.image_stride + static_cast<std::int64_t>(y) * layer.width + x;
  }
};

/// The sources of one thread's kCount steps of a group, channel after channel at one place of the filter.
template <class T, int kCount>
class WidePixels {
 public:
  /// `step`: the first one, of all.
  __device__ WidePixels(const CnnLayerGemmArguments<T>& layer, int column, int step)
      : layer_(layer), column_(layer, column) {
    const int group = step / kCnnLayerGroup;
    const int first_channel = step % kCnnLayerGroup;
    const int places = layer.filter_height * layer.filter_width;
    const int chunk = group / places;
    const int place = group - chunk * places;
    i_ = place / layer.filter_width;
    j_ = place - i_ * layer.filter_width;
    channels_left_ = layer.channels - chunk * kCnnLayerGroup - first_channel;
    source_ = column_.source +
              (static_cast<std::int64_t>(chunk) * kCnnLayerGroup + first_channel) * layer.plane_stride +
              static_cast<std::int64_t>(i_) * layer.width + j_;
  }

  /// Calls move(step of the kCount, source, is it to be read).
  template <class Move>
  __device__ __forceinline__ void for_each(bool wanted, Move move) const {
    const bool inside = wanted && column_.has(layer_, i_, j_);
    const T* source = source_;
    if (channels_left_ >= kCount) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        move(i, source, inside);
        source += layer_.plane_stride;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        move(i, source, inside && i < channels_left_);
        source += layer_.plane_stride;
      }
    }
  }

  __device__ __forceinline__ void advance(int steps) {
    for (int step = 0; step < steps; step += kCnnLayerGroup) {
      ++source_;
      ++j_;
      if (j_ == layer_.filter_width) {
        j_ = 0;
        ++i_;
        source_ += layer_.width - layer_.filter_width;
        if (i_ == layer_.filter_height) {
          i_ = 0;
          source_ +=
              kCnnLayerGroup * layer_.plane_stride - static_cast<std::int64_t>(layer_.filter_height) * layer_.width;
          channels_left_ -= kCnnLayerGroup;
        }
      }
    }
  }

 private:
  const CnnLayerGemmArguments<T>& layer_;
  PixelColumn<T> column_;
  const T* source_;  // of the first step
  int i_;            // place of the filter
  int j_;
  int channels_left_;
};

/// The same in the order of the weights, from the table of the steps.
template <class T, int kCount>
class FewPixels {
 public:
  __device__ FewPixels(const CnnLayerGemmArguments<T>& layer, int column, int step)
      : layer_(layer),
        column_(layer, column),
        step_(step),
        is_interior_(column_.has(layer, 0, 0) && column_.has(layer, layer.filter_height - 1, layer.filter_width - 1)) {}

  template <class Move>
  __device__ __forceinline__ void for_each(bool wanted, Move move) const {
    if (!wanted || step_ >= layer_.steps) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) move(i, column_.source, false);
    } else if (is_interior_ && step_ + kCount <= layer_.steps) {
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const auto four = *reinterpret_cast<const Run<std::int32_t, 4>*>(layer_.offsets + step_ + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) move(i + j, column_.source + four.element[j], true);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const std::int32_t place = layer_.places[step_ + i];
        move(i, column_.source + layer_.offsets[step_ + i],
             step_ + i < layer_.steps && column_.has(layer_, place >> 16, place & 0xffff));
      }
    }
  }

  __device__ __forceinline__ void advance(int steps) {
    step_ += steps;
  }

 private:
  const CnnLayerGemmArguments<T>& layer_;
  PixelColumn<T> column_;
  int step_;
  bool is_interior_;  // is the whole filter inside of the image?
};

/// One thread's part in fetching the stages of pixels; used as gemm uses its Operand.
template <class Stage, int kThreads, int kStages, bool kWide>
class PixelOperand {
 public:
  using T = typename Stage::T;
  static constexpr int kSize = kStages * Stage::kSize;  ///< elements of shared memory
  static constexpr int kParts = 0;                      ///< nothing is turned

  /// The tile begins at `first_column`, and at group `first_group` of k.
  __device__ PixelOperand(T* shared, const CnnLayerGemmArguments<T>& layer, int first_column, int first_group)
      : shared_(shared),
        column_(static_cast<int>(threadIdx.x) % Stage::kExtent),
        first_step_(static_cast<int>(threadIdx.x) / Stage::kExtent * kCount),
        pixels_(layer, first_column + column_, first_group * kCnnLayerGroup + first_step_) {}

  /// The first `steps` steps, a multiple of a group's, and zeros behind them.
  __device__ __forceinline__ void start_remainder(int steps) {
    fetch(shared_, first_step_ < steps);
    pixels_.advance(steps);
  }
  __device__ __forceinline__ void start(int slot) {
    fetch(shared_ + slot * Stage::kSize, true);
    pixels_.advance(Stage::kDepth);
  }
  /// Without asynchronous copies: writes what the last call fetched.
  __device__ __forceinline__ void deliver(int slot) const {
    if constexpr (!kAsynchronousCopies) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) *place_of(shared_ + slot * Stage::kSize, i) = held_[i];
    }
  }
  __device__ __forceinline__ void turn(int, int, int) const {}
  [[nodiscard]] __device__ __forceinline__ const T* stage(int slot, int) const {
    return shared_ + slot * Stage::kSize;
  }

 private:
  static constexpr int kCount = Stage::kDepth * Stage::kExtent / kThreads;  // steps that one thread fetches
  static_assert(kThreads % Stage::kExtent == 0 && kCnnLayerGroup % kCount == 0 && kCount % 4 == 0);

  [[nodiscard]] __device__ __forceinline__ T* place_of(T* stage, int i) const {
    const int row = first_step_ + i;
    return stage + row * Stage::kRow + (column_ ^ Stage::twist(row));
  }

  __device__ __forceinline__ void fetch(T* stage, bool wanted) {
    pixels_.for_each(wanted, [&](int i, const T* source, bool inside) {
      if constexpr (kAsynchronousCopies) {
        copy_asynchronously<sizeof(T)>(place_of(stage, i), source, inside ? static_cast<int>(sizeof(T)) : 0);
      } else {
        held_[i] = inside ? *source : T(0);
      }
    });
  }

  T* shared_;
  int column_;
  int first_step_;  // of this thread's, within a stage
  std::conditional_t<kWide, WidePixels<T, kCount>, FewPixels<T, kCount>> pixels_;
  T held_[kAsynchronousCopies ? 1 : kCount];
};

}  // namespace tessera::cuda
