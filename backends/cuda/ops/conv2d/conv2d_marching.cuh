// conv2d, marching: a warp marches down a strip of 128 columns with all sums in registers and no shared memory.
//
//      128 columns, 4 a lane                 At each row of the image a lane loads its 4 pixels as one vector and takes
//     +----+----+----+--  --+----+           the neighbours' nearest ones by shuffle; the first and the last lane load
//     |lane|lane|lane|      |lane|           theirs. The row then goes into the sums of all K output rows that it
//     belongs |  0 |  1 |  2 |  ..  | 31 |  image    to: K x 4 sums in a window that rotates, so that a finished row's
//     registers
//     +----+----+----+--  --+----+   row     begin the next one. The rotation is unrolled: which sums a row goes to is
//       |    |                         |     known when it is compiled.
//       v    v                         v
//     sums of K output rows, K x 4 a lane; the top one is finished, written as one vector, and starts anew
//
// A pixel is read once from device memory, but for the K - 1 rows that runs share and the 2 vectors beside a strip.
// Weights lie in the kernel's constant memory, which a multiply-add reads as an operand. Products: K * K for a pixel,
// or 2 * K where the filter is a column times a row (kSeparable): then the row's sum goes into the K sums.
//
// Rows of the image are loaded kAhead rows before they are used, to have several loads in flight.
#pragma once

#include "ops/conv2d/conv2d_pixels.cuh"

namespace tessera::cuda {

template <class Pixel, int kSize, bool kSeparable>
class Conv2dMarch {
  using Sum = Conv2dSum<Pixel>;
  static constexpr int kReach = kSize / 2;
  static constexpr int kAhead = 2;
  static_assert(kReach <= kMarchingPixels, "only the next lane's pixels are at hand");

  /// A row of the image as a lane loads it: its own pixels, and in the first and last lane those beside the strip.
  struct Row {
    PixelVector<Pixel> own;
    PixelVector<Pixel> beside;
  };

 public:
  __device__ __forceinline__ Conv2dMarch(const Conv2dMarchingArguments<Pixel>& arguments, std::int64_t image,
                                         std::int64_t strip)
      : arguments_(arguments), conv2d_(arguments.conv2d), lane_(static_cast<int>(threadIdx.x)) {
    image_ = conv2d_.image + image * conv2d_.height * conv2d_.width;
    output_ = conv2d_.output + image * conv2d_.output_height * conv2d_.output_width;
    x_ = arguments.first_x + strip * kMarchingColumns + lane_ * kMarchingPixels;
  }

  /// The sums of rows [first, last), counted as rows of the image.
  __device__ __forceinline__ void run(std::int64_t first, std::int64_t last) {
    Sum sums[kSize][kMarchingPixels] = {};
    Row rows[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) rows[i] = load(first - kReach + i);
    // Before the first row's sum is whole, what falls out of the window belongs to no row.
    for (std::int64_t y = first - kReach; y < last + kReach; y += kSize) {
#pragma unroll
      for (int phase = 0; phase < kSize; ++phase) {
        if (y + phase >= last + kReach) return;
        const Row row = rows[0];
#pragma unroll
        for (int i = 0; i + 1 < kAhead; ++i) rows[i] = rows[i + 1];
        rows[kAhead - 1] = load(y + phase + kAhead);
        add(row, sums, phase);
        const std::int64_t finished = y + phase - kReach;
        Sum(&oldest)[kMarchingPixels] = sums[(phase + 1) % kSize];
        if (finished >= first) store(finished, oldest);
#pragma unroll
        for (int i = 0; i < kMarchingPixels; ++i) oldest[i] = 0;
      }
    }
  }

 private:
  __device__ __forceinline__ PixelVector<Pixel> load_vector(const Pixel* row, std::int64_t x) const {
    PixelVector<Pixel> vector{};
    if (arguments_.reads_vectors) {
      if (x >= 0 && x < conv2d_.width) vector = *reinterpret_cast<const PixelVector<Pixel>*>(row + x);
    } else {
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) {
        if (x + i >= 0 && x + i < conv2d_.width) vector.pixels[i] = row[x + i];
      }
    }
    return vector;
  }

  __device__ __forceinline__ Row load(std::int64_t y) const {
    Row row{};
    if (y < 0 || y >= conv2d_.height) return row;
    const Pixel* const pixels = image_ + y * conv2d_.width;
    row.own = load_vector(pixels, x_);
    if (lane_ == 0) row.beside = load_vector(pixels, x_ - kMarchingPixels);
    if (lane_ == 31) row.beside = load_vector(pixels, x_ + kMarchingPixels);
    return row;
  }

  /// Adds the row to the sums: weight row i goes to the output row whose sum began i rows ago.
  __device__ __forceinline__ void add(const Row& row, Sum (&sums)[kSize][kMarchingPixels], int phase) const {
    Sum x[kMarchingPixels + 2 * kReach];
#pragma unroll
    for (int i = 0; i < kMarchingPixels; ++i) x[kReach + i] = number(row.own.pixels[i]);
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
      const int last = kMarchingPixels - kReach + i;
      const Sum from_left = __shfl_up_sync(~0U, number(row.own.pixels[last]), 1);
      const Sum from_right = __shfl_down_sync(~0U, number(row.own.pixels[i]), 1);
      x[i] = lane_ == 0 ? number(row.beside.pixels[last]) : from_left;
      x[kReach + kMarchingPixels + i] = lane_ == 31 ? number(row.beside.pixels[i]) : from_right;
    }
    if constexpr (kSeparable) {
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) {
        Sum sum = 0;
#pragma unroll
        for (int j = 0; j < kSize; ++j) sum += arguments_.weights[kSize + j] * x[i + j];
#pragma unroll
        for (int k = 0; k < kSize; ++k) sums[(phase + kSize - k) % kSize][i] += arguments_.weights[k] * sum;
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
#pragma unroll
        for (int j = 0; j < kSize; ++j) {
#pragma unroll
          for (int i = 0; i < kMarchingPixels; ++i) {
            sums[(phase + kSize - k) % kSize][i] += arguments_.weights[k * kSize + j] * x[i + j];
          }
        }
      }
    }
  }

  __device__ __forceinline__ void store(std::int64_t finished, const Sum (&sums)[kMarchingPixels]) const {
    const std::int64_t x = x_ - arguments_.shift_x;
    Sum* const row = output_ + (finished - arguments_.shift_y) * conv2d_.output_width;
    if (arguments_.writes_vectors) {
      if (x < 0 || x >= conv2d_.output_width) return;
      SumVector<Sum> vector;
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) vector.sums[i] = sums[i];
      *reinterpret_cast<SumVector<Sum>*>(row + x) = vector;
    } else {
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) {
        if (x + i >= 0 && x + i < conv2d_.output_width) row[x + i] = sums[i];
      }
    }
  }

  const Conv2dMarchingArguments<Pixel>& arguments_;
  const Conv2dArguments<Pixel>& conv2d_;
  const Pixel* image_;
  Sum* output_;
  std::int64_t x_;
  int lane_;
};

/// Each warp takes one run of rows of one strip; strips beside each other are neighbours, so that they share lines.
template <class Pixel, int kSize, bool kSeparable>
__device__ void conv2d_marching(const Conv2dMarchingArguments<Pixel>& arguments) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kMarchingWarps;
  const std::int64_t pieces = arguments.strips * arguments.runs * arguments.conv2d.batch;
  for (std::int64_t piece = static_cast<std::int64_t>(blockIdx.x) * kMarchingWarps + threadIdx.y; piece < pieces;
       piece += warps) {
    const std::int64_t strip = piece % arguments.strips;
    const std::int64_t run = piece / arguments.strips % arguments.runs;
    const std::int64_t image = piece / (arguments.strips * arguments.runs);
    const std::int64_t first = run * arguments.rows_per_run + arguments.shift_y;
    const std::int64_t end = arguments.conv2d.output_height + arguments.shift_y;
    const std::int64_t last = first + arguments.rows_per_run < end ? first + arguments.rows_per_run : end;
    Conv2dMarch<Pixel, kSize, kSeparable>(arguments, image, strip).run(first, last);
  }
}

}  // namespace tessera::cuda

#define TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, size)                       \
  extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::kMarchingWarps)           \
      tessera_conv2d_##variant##_##type##_##size(                                            \
          const __grid_constant__ tessera::cuda::Conv2dMarchingArguments<Pixel> arguments) { \
    tessera::cuda::conv2d_marching<Pixel, size, separable>(arguments);                       \
  }
#define TESSERA_CONV2D_MARCHING_SIZES(variant, separable, Pixel, type) \
  TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, 3)          \
  TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, 5)          \
  TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, 7)
