// conv2d, register_tiled: a tile of the output with its halo in shared memory, 8 x kRows sums of it in the registers of
// each thread. For filters of every size; kTail is the length of the last segment of a row of the filter, 1 to 8.
//
//      128 columns, 8 a thread                  A thread holds kRows rows of the 15 numbers that lie under a segment of
//     +------+------+------+--  --+             8 weights. At each row of the filter the oldest makes room for the
//     |thread|thread|thread|      | 8 * kRows   next: a row of the image is loaded once for kRows rows of sums. The
//     +------+------+------+--  --+ rows,       ring of rows turns in code that is unrolled. With kRows = 4 the 16
//     |      |      |      |      | kRows a     numbers and 8 weights that are loaded for a segment serve 256 products.
//     +------+------+------+--  --+ thread      With fewer rows there are more groups, for images that have few.
//
// The tile comes to shared memory in bands of up to kBand rows of the filter: 8 * kRows + kBand - 1 rows of 128 +
// filter - 1 numbers, which stays below 48 KiB for every filter. A pixel is read from device memory, or the cache
// before it, some (1 + filter / 128) * (1 + kBand / (8 * kRows)) times for each band. The sums leave through the same
// shared memory, so that neighbouring threads store neighbouring pixels whatever the alignment.
#pragma once

#include "cuda_kernel_overlap.cuh"
#include "ops/conv2d/conv2d_local_rows.cuh"

namespace tessera::cuda {

/// Mirrors Conv2dRegisterTile of mathematics/conv2d_tiles.h.
struct RegisterTile {
  static constexpr int kColumns = 8;  ///< of a thread
  static constexpr int kAcross = 16;
  static constexpr int kDown = 8;
  static constexpr int kThreads = kAcross * kDown;
  static constexpr int kTileColumns = kAcross * kColumns;
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kBand = 16;
  static constexpr int kWindow = kColumns + kSegment;
};

template <class Sum, int kRows, int kTail>
class Conv2dRegisterTiled : RegisterTile {
  static constexpr int kTileRows = kDown * kRows;

 public:
  __device__ __forceinline__ Conv2dRegisterTiled(const Conv2dTileArguments& conv2d, Quad<Sum>* memory)
      : conv2d_(conv2d), memory_(memory), thread_(static_cast<int>(threadIdx.x)) {
    columns_ = columns_under(kTileColumns, conv2d.filter_width);
    pitch_ = pitch_of(columns_);
    segments_ = (conv2d.filter_width + kSegment - 1) / kSegment;
    const int bands = (conv2d.filter_height + kBand - 1) / kBand;
    band_ = (conv2d.filter_height + bands - 1) / bands;
    weights_ = memory + pitch_ * (kTileRows + band_ - 1);
  }

  /// One tile, whose first output is (row, column) of an image of the batch.
  __device__ __forceinline__ void run(std::int64_t index, std::int64_t row, std::int64_t column) {
    const std::int64_t x = column - conv2d_.anchor_x;
    const Columns own = columns_of(x, thread_ % 32, columns_, conv2d_.width);
    Sum sums[kRows][kColumns] = {};
    for (int first = 0; first < conv2d_.filter_height; first += band_) {
      const int filter_rows = min(band_, conv2d_.filter_height - first);
      __syncthreads();  // slower threads still read the band or the tile before
      const std::int64_t y = row + first - conv2d_.anchor_y;
      for_pixel([&](auto pixel) {
        const auto* const pixels = static_cast<const decltype(pixel)*>(conv2d_.image);
        load_tile(pixels + (index * conv2d_.height + y) * conv2d_.width + x, y, own, kTileRows + filter_rows - 1);
      });
      load_weights(first, filter_rows);
      __syncthreads();
      for (int segment = 0; segment + 1 < segments_; ++segment) add_segment<kSegment>(sums, segment, filter_rows);
      add_segment<kTail>(sums, segments_ - 1, filter_rows);
    }
    __syncthreads();
    leave(sums);
    __syncthreads();
    const std::int64_t place = (index * conv2d_.output_height + row) * conv2d_.output_width + column;
    if (std::is_same_v<Sum, float> && conv2d_.pixel_bytes == 4) {
      store(static_cast<float*>(conv2d_.output) + place, row, column);
    } else {
      store(static_cast<std::int32_t*>(conv2d_.output) + place, row, column);
    }
  }

 private:
  template <class Visit>
  __device__ __forceinline__ void for_pixel(const Visit& visit) const {
    switch (conv2d_.pixel_bytes) {
      case 1: return visit(std::uint8_t());
      case 2: return visit(std::int16_t());
      default: return visit(std::conditional_t<std::is_same_v<Sum, float>, float, std::int32_t>());
    }
  }

  /// Brings rows of the image into the tile. `pixel`: the tile's first in row y.
  template <class Pixel>
  __device__ __forceinline__ void load_tile(const Pixel* pixel, std::int64_t y, const Columns& own, int rows) const {
    if (own.all_inside) {
      load_rows<true>(pixel, y, own, rows);
    } else {
      load_rows<false>(pixel, y, own, rows);
    }
  }
  /// Two rows at a time for each warp.
  template <bool kAllInside, class Pixel>
  __device__ __forceinline__ void load_rows(const Pixel* pixel, std::int64_t y, const Columns& own, int rows) const {
    const auto clamped = [&](std::int64_t value) {
      return value < 0 ? 0 : value > rows ? rows : static_cast<int>(value);
    };
    const int first_inside = clamped(-y);
    const int last_inside = clamped(conv2d_.height - y);
    const std::int64_t stride = kWarps * conv2d_.width;
    pixel += thread_ / 32 * conv2d_.width + thread_ % 32;
    Sum* tile = memory_->numbers + thread_ / 32 * pitch_ * 4 + thread_ % 32;
    for (int row = thread_ / 32; row < rows; row += 2 * kWarps) {
      const int next = row + kWarps;
      Pixel pixels[2][kMostFetched];
      fetch_row<kAllInside>(pixels[0], pixel, row >= first_inside && row < last_inside, own);
      pixel += stride;
      fetch_row<kAllInside>(pixels[1], pixel, next >= first_inside && next < last_inside, own);
      pixel += stride;
      put_row(tile, pixels[0], own);
      tile += kWarps * pitch_ * 4;
      if (next < rows) put_row(tile, pixels[1], own);
      tile += kWarps * pitch_ * 4;
    }
  }

  /// Two quads a row of the filter; those of one segment row by row.
  __device__ __forceinline__ void load_weights(int first, int filter_rows) const {
    const Sum* const weights = static_cast<const Sum*>(conv2d_.weights);
    for (int i = thread_; i < segments_ * filter_rows * kSegment; i += kThreads) {
      const int row = i / kSegment;
      const int segment = row / filter_rows;
      weights_->numbers[i] =
          weights[(segment * conv2d_.filter_height + first + row - segment * filter_rows) * kSegment + i % kSegment];
    }
  }

  /// The numbers from quad on that kWidth weights need for kColumns sums.
  template <int kWidth>
  __device__ __forceinline__ static void load_window(Sum (&window)[kWindow], const Quad<Sum>* row, int quad) {
#pragma unroll
    for (int i = 0; 4 * i < kColumns + kWidth - 1; ++i) take_quad(window + 4 * i, row[place_of_quad(quad + i)]);
  }

  /// Adds a segment of kWidth weights of each of the band's rows.
  template <int kWidth>
  __device__ __forceinline__ void add_segment(Sum (&sums)[kRows][kColumns], int segment, int filter_rows) const {
    const int quad = thread_ % kAcross * (kColumns / 4) + segment * (kSegment / 4);
    const Quad<Sum>* row = memory_ + thread_ / kAcross * kRows * pitch_;
    const Quad<Sum>* weights = weights_ + segment * filter_rows * (kSegment / 4);
    Sum ring[kRows][kWindow];
#pragma unroll
    for (int r = 0; r + 1 < kRows; ++r) {
      load_window<kWidth>(ring[r], row, quad);
      row += pitch_;
    }
    for (int first = 0; first < filter_rows; first += kRows) {
#pragma unroll
      for (int phase = 0; phase < kRows; ++phase) {
        if (first + phase < filter_rows) {
          load_window<kWidth>(ring[(phase + kRows - 1) % kRows], row, quad);
          row += pitch_;
          Sum weight[kSegment];
          take_quad(weight, weights[0]);
          if constexpr (kWidth > 4) take_quad(weight + 4, weights[1]);
          weights += kSegment / 4;
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
#pragma unroll
            for (int j = 0; j < kWidth; ++j) {
#pragma unroll
              for (int i = 0; i < kColumns; ++i) sums[r][i] += weight[j] * ring[(phase + r) % kRows][i + j];
            }
          }
        }
      }
    }
  }

  __device__ __forceinline__ void leave(const Sum (&sums)[kRows][kColumns]) const {
    Quad<Sum>* const row = memory_ + thread_ / kAcross * kRows * pitch_;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kColumns; i += 4) {
        row[r * pitch_ + place_of_quad(thread_ % kAcross * (kColumns / 4) + i / 4)] = {
            {sums[r][i], sums[r][i + 1], sums[r][i + 2], sums[r][i + 3]}};
      }
    }
  }

  template <class Output>
  __device__ __forceinline__ void store(Output* output, std::int64_t row, std::int64_t column) const {
    const int rows = static_cast<int>(min(std::int64_t{kTileRows}, conv2d_.output_height - row));
    const int columns = static_cast<int>(min(std::int64_t{kTileColumns}, conv2d_.output_width - column));
    const int lane = thread_ % 32;
    const Sum* numbers = memory_->numbers + thread_ / 32 * pitch_ * 4 + lane;
    output += thread_ / 32 * conv2d_.output_width + lane;
    const std::int64_t stride = kWarps * conv2d_.output_width;
    for (int y = thread_ / 32; y < rows; y += kWarps) {
#pragma unroll
      for (int i = 0; i < kTileColumns / 32; ++i) {
        if (lane + i * 32 < columns) output[i * 32] = static_cast<Output>(numbers[i * 36]);
      }
      numbers += kWarps * pitch_ * 4;
      output += stride;
    }
  }

  const Conv2dTileArguments& conv2d_;
  Quad<Sum>* memory_;
  Quad<Sum>* weights_;
  int thread_;
  int columns_;  ///< of the tile in shared memory
  int pitch_;
  int segments_;
  int band_;
};

/// The grid's y and z are at most 65,535 groups, so they loop on.
template <class Sum, int kRows, int kTail>
__device__ __forceinline__ void conv2d_register_tiled(const Conv2dTileArguments& conv2d) {
  extern __shared__ __align__(16) unsigned char shared_bytes_of_block[];
  let_next_kernel_start();
  wait_for_kernel_before();
  Conv2dRegisterTiled<Sum, kRows, kTail> tile(conv2d, reinterpret_cast<Quad<Sum>*>(shared_bytes_of_block));
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * RegisterTile::kTileColumns;
  for (std::int64_t index = blockIdx.z; index < conv2d.batch; index += gridDim.z) {
    for (std::int64_t block = blockIdx.y; block < conv2d.blocks_down; block += gridDim.y) {
      const std::int64_t row = block * RegisterTile::kDown * kRows;
      tile.run(index, row, column);
    }
  }
}

}  // namespace tessera::cuda

// `sum`: float32 or int32. 4 rows a thread take up to 128 registers, of which 4 groups fit on a multiprocessor.
#define TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, tail)                           \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::RegisterTile::kThreads, groups) \
      tessera_conv2d_register_tiled_##sum##_##rows##_##tail(                                  \
          const __grid_constant__ tessera::cuda::Conv2dTileArguments conv2d) {                \
    tessera::cuda::conv2d_register_tiled<Sum, rows, tail>(conv2d);                            \
  }
#define TESSERA_CONV2D_REGISTER_TILED_TAILS(Sum, sum, rows, groups) \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 1)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 2)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 3)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 4)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 5)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 6)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 7)          \
  TESSERA_CONV2D_REGISTER_TILED(Sum, sum, rows, groups, 8)
#define TESSERA_CONV2D_REGISTER_TILED_ALL(Sum, sum)   \
  TESSERA_CONV2D_REGISTER_TILED_TAILS(Sum, sum, 1, 7) \
  TESSERA_CONV2D_REGISTER_TILED_TAILS(Sum, sum, 2, 5) \
  TESSERA_CONV2D_REGISTER_TILED_TAILS(Sum, sum, 4, 4)
