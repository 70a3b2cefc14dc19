// conv2d, separable_passes: filters of every size that are a column times a row. A block marches down a strip of the
// output, 16 rows at a time, with the last rows of sums along the rows in shared memory.
//
//          128 + filter - 1 pixels            At each step 16 rows of pixels, fetched during the step before, come to
//         +--------------------------+        shared memory. In the first pass a thread sums 16 neighbouring columns
//   16    |  pixels, as numbers      |        along one row; the row of sums goes to a ring of 16 + filter - 1 rows. In
//   rows  +--------------------------+        the second pass a thread has one column and sums it down for 16 rows of
//            | first pass: along rows         the output. A row of the image is summed once for all outputs above and
//            v                                below it, but for the filter - 1 rows that two runs share.
//         +-----------------------+
//         | ring of row sums      |           Products for a pixel: the filter's rows + columns. In either pass 16 + 8
//         +-----------------------+           numbers stand in registers as a window that moves on by 8: 8 numbers and
//            | second pass: down columns      8 weights that are loaded serve 128 products.
//            v
//          128 x 16 outputs
#include "cuda_kernel_overlap.cuh"
#include "ops/conv2d/conv2d_local_rows.cuh"

namespace tessera::cuda {

/// kFetched: pixels that a thread fetches of a row.
template <class Pixel, class Sum, int kFetched>
class Conv2dPasses {
  static constexpr int kColumns = 128;  ///< of a strip; one thread each
  static constexpr int kStep = 16;
  static constexpr int kSums = 16;
  static constexpr int kAcross = kColumns / kSums;
  static constexpr int kWindow = kSums + kSegment;
  static constexpr int kWarps = kColumns / 32;
  static constexpr int kFetchedRows = kStep / kWarps;
  using Output = std::conditional_t<std::is_same_v<Pixel, float>, float, std::int32_t>;

 public:
  using Numbers = Quad<Sum>;
  static constexpr int kThreads = kColumns;

  __device__ __forceinline__ Conv2dPasses(const Conv2dTileArguments& conv2d, Quad<Sum>* memory)
      : conv2d_(conv2d), pixels_(memory), thread_(static_cast<int>(threadIdx.x)) {
    columns_ = columns_under(kColumns, conv2d.filter_width);
    pixel_pitch_ = pitch_of(columns_);
    column_segments_ = (conv2d.filter_height + kSegment - 1) / kSegment;
    row_segments_ = (conv2d.filter_width + kSegment - 1) / kSegment;
    slots_ = (conv2d.filter_height - 1 + kStep + kSegment - 1) / kSegment * kSegment;
    ring_ = memory + kStep * pixel_pitch_;
    weights_ = ring_ + slots_ * kRingPitch;
    const Sum* const weights = static_cast<const Sum*>(conv2d.weights);
    for (int i = thread_; i < (column_segments_ + row_segments_) * kSegment; i += kThreads) {
      weights_->numbers[i] = weights[i];
    }
  }

  /// One run, whose first output is (row, column) of an image of the batch. Rows of the image are counted from the
  /// first that the run needs; those of a step are so chosen that outputs begin at multiples of kStep.
  __device__ __forceinline__ void run(std::int64_t index, std::int64_t row, std::int64_t column) {
    const int ahead = (conv2d_.filter_height - 1 + kStep - 1) / kStep;  // steps before the first output is whole
    const int lane = thread_ % 32;
    const std::int64_t x = column - conv2d_.anchor_x;
    std::int64_t y = row - conv2d_.anchor_y + conv2d_.filter_height - 1 - ahead * kStep + thread_ / 32;
    const Columns own = columns_of(x, lane, columns_, conv2d_.width);
    const Pixel* image =
        static_cast<const Pixel*>(conv2d_.image) + (index * conv2d_.height + y) * conv2d_.width + x + lane;
    const int rows = static_cast<int>(min(std::int64_t{conv2d_.rows}, conv2d_.output_height - row));
    const bool is_stored = column + thread_ < conv2d_.output_width;
    Output* output = static_cast<Output*>(conv2d_.output) +
                     (index * conv2d_.output_height + row) * conv2d_.output_width + column + thread_;
    // Where the step's rows go: the first row that the run needs to slot 0, those before it to the ring's end.
    const int before = ahead * kStep - (conv2d_.filter_height - 1);  // rows of the first step that no output needs
    int newest = before == 0 ? 0 : slots_ - before;
    int oldest = 0;

    Pixel pixels[kFetchedRows][kFetched];
    fetch_step(pixels, image, y, own);
    for (int first = -ahead * kStep; first < rows; first += kStep) {
      // Slower threads may still sum down columns of the step before, or of the run before: that reads no pixels.
#pragma unroll
      for (int k = 0; k < kFetchedRows; ++k) {
        put_row(pixels_[(thread_ / 32 + k * kWarps) * pixel_pitch_].numbers + lane, pixels[k], own);
      }
      __syncthreads();
      y += kStep;
      image += kStep * conv2d_.width;
      if (first + kStep < rows) fetch_step(pixels, image, y, own);
      sum_along(newest);
      newest = newest + kStep < slots_ ? newest + kStep : newest + kStep - slots_;
      __syncthreads();
      if (first < 0) continue;
      Sum sums[kSums] = {};
      sum_down(sums, oldest);
      oldest = oldest + kStep < slots_ ? oldest + kStep : oldest + kStep - slots_;
      if (is_stored) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
          if (first + i < rows) output[i * conv2d_.output_width] = static_cast<Output>(sums[i]);
        }
      }
      output += kStep * conv2d_.output_width;
    }
  }

 private:
  static constexpr int kRingPitch = 35;  ///< pitch_of(kColumns)

  /// `row`: this thread's first pixel of its first row, which is row y of the image.
  __device__ __forceinline__ void fetch_step(Pixel (&pixels)[kFetchedRows][kFetched], const Pixel* row, std::int64_t y,
                                             const Columns& own) const {
    if (own.all_inside) {
      fetch_rows<true>(pixels, row, y, own);
    } else {
      fetch_rows<false>(pixels, row, y, own);
    }
  }
  template <bool kAllInside>
  __device__ __forceinline__ void fetch_rows(Pixel (&pixels)[kFetchedRows][kFetched], const Pixel* row, std::int64_t y,
                                             const Columns& own) const {
#pragma unroll
    for (int k = 0; k < kFetchedRows; ++k) {
      const std::int64_t source = y + k * kWarps;
      fetch_row<kAllInside>(pixels[k], row, source >= 0 && source < conv2d_.height, own);
      row += kWarps * conv2d_.width;
    }
  }

  /// Adds `taps` products to each of the sums: weight j goes with number j + i of the window to sum i.
  __device__ __forceinline__ static void add_taps(Sum (&sums)[kSums], const Sum (&window)[kWindow],
                                                  const Quad<Sum>* weights, int taps) {
    Sum weight[kSegment];
    take_quad(weight, weights[0]);
    take_quad(weight + 4, weights[1]);
#pragma unroll
    for (int j = 0; j < kSegment; ++j) {
      if (j < taps) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) sums[i] += weight[j] * window[i + j];
      }
    }
  }

  __device__ __forceinline__ static void move_on(Sum (&window)[kWindow]) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) window[i] = window[i + kSegment];
  }

  /// The first pass: sums along the thread's row of pixels, which go to the ring from slot `newest` on.
  __device__ __forceinline__ void sum_along(int newest) const {
    const int row = thread_ / kAcross;
    const int first = thread_ % kAcross * (kSums / 4);
    const Quad<Sum>* const pixels = pixels_ + row * pixel_pitch_;
    const Quad<Sum>* weights = weights_ + column_segments_ * (kSegment / 4);
    const int tail = conv2d_.filter_width - (row_segments_ - 1) * kSegment;
    Sum sums[kSums] = {};
    Sum window[kWindow];
#pragma unroll
    for (int i = 0; i < kSums / 4; ++i) take_quad(window + 4 * i, pixels[place_of_quad(first + i)]);
    int quad = first + kSums / 4;
    for (int segment = 0; segment + 1 < row_segments_; ++segment) {
#pragma unroll
      for (int i = 0; i < 2; ++i) take_quad(window + kSums + 4 * i, pixels[place_of_quad(quad + i)]);
      add_taps(sums, window, weights, kSegment);
      move_on(window);
      quad += kSegment / 4;
      weights += kSegment / 4;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (4 * i < tail - 1) take_quad(window + kSums + 4 * i, pixels[place_of_quad(quad + i)]);
    }
    add_taps(sums, window, weights, tail);
    const int slot = newest + row < slots_ ? newest + row : newest + row - slots_;
#pragma unroll
    for (int i = 0; i < kSums; i += 4) {
      ring_[slot * kRingPitch + place_of_quad(first + i / 4)] = {{sums[i], sums[i + 1], sums[i + 2], sums[i + 3]}};
    }
  }

  /// A segment's rows of one column of the ring, which end before the ring does. Of the last segment there are fewer.
  __device__ __forceinline__ static void take_rows(Sum* numbers, const Sum* column, int slot, int rows) {
#pragma unroll
    for (int i = 0; i < kSegment; ++i) {
      if (i < rows) numbers[i] = column[(slot + i) * kRingPitch * 4];
    }
  }

  /// The second pass: sums down the thread's column of the ring, from slot `oldest` on, a multiple of kSegment.
  __device__ __forceinline__ void sum_down(Sum (&sums)[kSums], int oldest) const {
    const Sum* const column = ring_->numbers + place_of(thread_);
    const Quad<Sum>* weights = weights_;
    const int tail = conv2d_.filter_height - (column_segments_ - 1) * kSegment;
    Sum window[kWindow];
    int slot = oldest;
#pragma unroll
    for (int i = 0; i < kSums; i += kSegment) {
      take_rows(window + i, column, slot, kSegment);
      slot = slot + kSegment == slots_ ? 0 : slot + kSegment;
    }
    for (int segment = 0; segment + 1 < column_segments_; ++segment) {
      take_rows(window + kSums, column, slot, kSegment);
      slot = slot + kSegment == slots_ ? 0 : slot + kSegment;
      add_taps(sums, window, weights, kSegment);
      move_on(window);
      weights += kSegment / 4;
    }
    take_rows(window + kSums, column, slot, tail - 1);
    add_taps(sums, window, weights, tail);
  }

  const Conv2dTileArguments& conv2d_;
  Quad<Sum>* pixels_;
  Quad<Sum>* ring_;
  Quad<Sum>* weights_;
  int thread_;
  int columns_;  ///< of pixels in shared memory
  int pixel_pitch_;
  int column_segments_;
  int row_segments_;
  int slots_;  ///< rows of the ring, a multiple of kSegment
};

/// The grid's y and z are at most 65,535 groups, so they loop on.
template <class Passes>
__device__ __forceinline__ void conv2d_separable_passes(const Conv2dTileArguments& conv2d) {
  extern __shared__ __align__(16) unsigned char shared_bytes_of_block[];
  let_next_kernel_start();
  wait_for_kernel_before();
  Passes passes(conv2d, reinterpret_cast<typename Passes::Numbers*>(shared_bytes_of_block));
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * Passes::kThreads;
  for (std::int64_t index = blockIdx.z; index < conv2d.batch; index += gridDim.z) {
    for (std::int64_t block = blockIdx.y; block < conv2d.blocks_down; block += gridDim.y) {
      passes.run(index, block * conv2d.rows, column);
    }
  }
}

}  // namespace tessera::cuda

// `sum`: what is summed in, float32 or int32. Five groups fit on a multiprocessor, as far as shared memory does.
#define TESSERA_CONV2D_SEPARABLE_PASSES(Pixel, type, Sum, sum, fetched)                                            \
  extern "C" __global__ void __launch_bounds__(128, 5) tessera_conv2d_separable_passes_##type##_##sum##_##fetched( \
      const __grid_constant__ tessera::cuda::Conv2dTileArguments conv2d) {                                         \
    tessera::cuda::conv2d_separable_passes<tessera::cuda::Conv2dPasses<Pixel, Sum, fetched>>(conv2d);              \
  }
#define TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(Pixel, type, Sum, sum) \
  TESSERA_CONV2D_SEPARABLE_PASSES(Pixel, type, Sum, sum, 5)         \
  TESSERA_CONV2D_SEPARABLE_PASSES(Pixel, type, Sum, sum, 6)

TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(std::uint8_t, uint8, float, float32)
TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(std::int16_t, int16, float, float32)
TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(float, float32, float, float32)
TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(std::uint8_t, uint8, std::uint32_t, int32)
TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(std::int16_t, int16, std::uint32_t, int32)
TESSERA_CONV2D_SEPARABLE_PASSES_BOTH(std::int32_t, int32, std::uint32_t, int32)
