// conv2d, marching: a warp marches down a strip of 128 columns with all sums in registers and no shared memory.
//
//      128 columns, 4 a lane              At each row of the image a lane loads its 4 pixels as a vector and takes the
//     +----+----+----+--  --+----+        neighbours' nearest ones by shuffle; the first and the last lane load theirs.
//     |lane|lane|lane|      |lane| image  Then the row goes into the sums of the K output rows it belongs to: K x 4
//     |  0 |  1 |  2 |  ..  | 31 | row    sums in a window that rotates, so that a finished row's registers begin the
//     +----+----+----+--  --+----+        next one. The rotation is unrolled: which sums a row goes to is known when it
//       |    |                |           is compiled.
//       v    v                v
//     sums of K output rows, K x 4 a lane; the top one is finished, written as one vector, and starts anew
//
// A pixel is read once from device memory, but for the K - 1 rows that runs share and the 2 vectors beside a strip.
// Weights lie in the kernel's constant memory, which a multiply-add reads as an operand. Products: K * K for a pixel,
// or 2 * K where the filter is a column times a row (kSeparable): then the row's sum goes into the K sums.
//
// Rows of the image are loaded kAhead rows before they are used, to have several loads in flight.
//
// On an H200 3 x 3 on 4096 x 4096 takes 37 us, and a copy of the image 34. 7 x 7 takes 48 us in float32 and 70 in
// int32, where the integer multipliers alone need 49 (docs/studies/conv2d.md has all sizes).
#pragma once

#include <type_traits>

#include "cuda_kernel_overlap.cuh"
#include "ops/conv2d/conv2d_pixels.cuh"

namespace tessera::cuda {

template <class Pixel, int kSize, bool kSeparable, bool kVectors>
class Conv2dMarch {
  using Sum = Conv2dSum<Pixel>;
  static constexpr int kReach = kSize / 2;
  static constexpr int kAhead = 3;
  static_assert(kReach <= kMarchingPixels, "only the next lane's pixels are at hand");

  /// A row of the image as a lane loads it: its own pixels, and in the first and last lane those beside the strip.
  struct Row {
    PixelVector<Pixel> own;
    PixelVector<Pixel> beside;
  };

 public:
  /// Output rows [first, last), counted as rows of the image, of one strip.
  __device__ __forceinline__ Conv2dMarch(const Conv2dMarchingArguments<Pixel>& arguments, std::int64_t image,
                                         std::int64_t strip, std::int64_t first, std::int64_t last)
      : arguments_(arguments), lane_(static_cast<int>(threadIdx.x)) {
    const Conv2dArguments<Pixel>& conv2d = arguments.conv2d;
    const std::int64_t strip_x = arguments.first_x + strip * kMarchingColumns;
    row_ = conv2d.image + (image * conv2d.height + first - kReach) * conv2d.width + strip_x;
    own_x_ = lane_ * kMarchingPixels;
    beside_x_ = lane_ == 0 ? -kMarchingPixels : kMarchingColumns;
    own_inside_ = inside(strip_x + own_x_, conv2d.width);
    beside_inside_ = lane_ == 0 || lane_ == 31 ? inside(strip_x + beside_x_, conv2d.width) : Inside(0);
    rows_ = static_cast<int>(last - first);
    // Which source rows lie in the image. They are counted from row first - kReach of the image on.
    const std::int64_t above = kReach - first;
    const std::int64_t below = conv2d.height - first + kReach;
    first_inside_ = above > 0 ? static_cast<int>(above) : 0;
    last_inside_ = below < rows_ + 2 * kReach ? static_cast<int>(below) : rows_ + 2 * kReach;
    const std::int64_t output_x = strip_x - arguments.shift_x;
    output_row_ =
        conv2d.output + (image * conv2d.output_height + first - arguments.shift_y) * conv2d.output_width + output_x;
    stored_ = inside(output_x + own_x_, conv2d.output_width);
  }

  __device__ __forceinline__ void run() {
    Sum sums[kSize][kMarchingPixels] = {};
    Row rows[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) rows[i] = load(i);
    // The sums that leave the window before the first row's sum is complete belong to no row, and are not stored.
    const int count = rows_ + 2 * kReach;
    for (int source = 0; source < count; source += kSize) {
#pragma unroll
      for (int phase = 0; phase < kSize; ++phase) {
        const Row row = rows[0];
#pragma unroll
        for (int i = 0; i + 1 < kAhead; ++i) rows[i] = rows[i + 1];
        rows[kAhead - 1] = load(source + phase + kAhead);
        add(row, sums, phase);
        const int finished = source + phase - 2 * kReach;
        Sum(&oldest)[kMarchingPixels] = sums[(phase + 1) % kSize];
        if (finished >= 0 && finished < rows_) store(oldest);
#pragma unroll
        for (int i = 0; i < kMarchingPixels; ++i) oldest[i] = 0;
      }
    }
  }

 private:
  /// Which of the pixels from x on lie in a row: one bit each. With vectors it is all or none.
  using Inside = std::conditional_t<kVectors, bool, unsigned>;
  __device__ __forceinline__ static Inside inside(std::int64_t x, std::int64_t width) {
    if constexpr (kVectors) return x >= 0 && x < width;
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kMarchingPixels; ++i) bits |= x + i >= 0 && x + i < width ? 1U << i : 0U;
    return bits;
  }

  __device__ __forceinline__ static PixelVector<Pixel> load_vector(const Pixel* pixels, bool in_image, Inside inside) {
    PixelVector<Pixel> vector{};
    if constexpr (kVectors) {
      if (in_image && inside) vector = *reinterpret_cast<const PixelVector<Pixel>*>(pixels);
    } else {
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) {
        if (in_image && (inside >> i & 1) != 0) vector.pixels[i] = pixels[i];
      }
    }
    return vector;
  }

  /// Source rows are loaded in order, each once. The row's number and address are the same for all lanes, so that the
  /// compiler keeps them in registers that a warp shares. With an address for each lane 5 x 5 took 46 us in place of 42
  /// (H200).
  __device__ __forceinline__ Row load(int source) {
    const bool in_image = source >= first_inside_ && source < last_inside_;
    const Row row{load_vector(row_ + own_x_, in_image, own_inside_),
                  load_vector(row_ + beside_x_, in_image, beside_inside_)};
    row_ += arguments_.conv2d.width;
    return row;
  }

  /// Adds the row to the sums: weight row k goes to the output row whose sum began k rows ago.
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

  /// Output rows are stored in order, each once.
  __device__ __forceinline__ void store(const Sum (&sums)[kMarchingPixels]) {
    if constexpr (kVectors) {
      SumVector<Sum> vector;
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) vector.sums[i] = sums[i];
      if (stored_) *reinterpret_cast<SumVector<Sum>*>(output_row_ + own_x_) = vector;
    } else {
#pragma unroll
      for (int i = 0; i < kMarchingPixels; ++i) {
        if ((stored_ >> i & 1) != 0) output_row_[own_x_ + i] = sums[i];
      }
    }
    output_row_ += arguments_.conv2d.output_width;
  }

  const Conv2dMarchingArguments<Pixel>& arguments_;
  const Pixel* row_;  ///< the strip's first column in the next source row, and in the next output row
  Sum* output_row_;
  int own_x_;
  int beside_x_;
  Inside own_inside_;
  Inside beside_inside_;
  Inside stored_;
  int lane_;
  int rows_;
  int first_inside_;
  int last_inside_;
};

/// A group is one warp and takes one run of rows of one strip; neighbouring groups share cache lines. With several
/// warps in a group the compiler does not see that the lanes of a warp stay together, and puts a barrier before every
/// shuffle.
template <class Pixel, int kSize, bool kSeparable, bool kVectors>
__device__ __forceinline__ void conv2d_marching(const Conv2dMarchingArguments<Pixel>& arguments) {
  let_next_kernel_start();
  wait_for_kernel_before();
  const std::int64_t end = arguments.conv2d.output_height + arguments.shift_y;
  for (std::int64_t image = blockIdx.z; image < arguments.conv2d.batch; image += gridDim.z) {
    for (std::int64_t run = blockIdx.y; run < arguments.runs; run += gridDim.y) {
      const std::int64_t first = run * arguments.rows_per_run + arguments.shift_y;
      const std::int64_t last = first + arguments.rows_per_run < end ? first + arguments.rows_per_run : end;
      Conv2dMarch<Pixel, kSize, kSeparable, kVectors>(arguments, image, blockIdx.x, first, last).run();
    }
  }
}

}  // namespace tessera::cuda

// How many groups must fit on a multiprocessor. The bound makes ptxas read the weights from constant memory as
// operands; without it the weights take registers, 118 in place of 80 for 7 x 7. Small filters have short runs and need
// many groups; 7 x 7 needs the registers that few groups have. Cards before sm_90 hold 16 groups at most.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define TESSERA_MARCHING_GROUPS(size, vectors) 16
#else
#define TESSERA_MARCHING_GROUPS(size, vectors) ((size) == 7 ? 16 : (vectors) || (size) == 3 ? 32 : 24)
#endif
#define TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, size, access, vectors)      \
  extern "C" __global__ void __launch_bounds__(32, TESSERA_MARCHING_GROUPS(size, vectors))   \
      tessera_conv2d_##variant##_##type##_##size##_##access(                                 \
          const __grid_constant__ tessera::cuda::Conv2dMarchingArguments<Pixel> arguments) { \
    tessera::cuda::conv2d_marching<Pixel, size, separable, vectors>(arguments);              \
  }
#define TESSERA_CONV2D_MARCHING_BOTH(variant, separable, Pixel, type, size)     \
  TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, size, vectors, true) \
  TESSERA_CONV2D_MARCHING(variant, separable, Pixel, type, size, pixels, false)
#define TESSERA_CONV2D_MARCHING_SIZES(variant, separable, Pixel, type) \
  TESSERA_CONV2D_MARCHING_BOTH(variant, separable, Pixel, type, 3)     \
  TESSERA_CONV2D_MARCHING_BOTH(variant, separable, Pixel, type, 5)     \
  TESSERA_CONV2D_MARCHING_BOTH(variant, separable, Pixel, type, 7)
