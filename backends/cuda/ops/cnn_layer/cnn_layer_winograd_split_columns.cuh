// cnn_layer, winograd_split: products that are transformed down before they leave the registers.
//
//   for each column of points, the products of its points one after the other      what leaves for each column
//   +---------------+   +---------------+       +---------------+                  +---------------+
//   | 128 outputs x |   | of the second |  ...  | of the last   |   -- Ay' -->     | of a row of   |  as many as a
//   | 72 tiles      |   | point         |       | point         |                  | outputs       |  tile has rows
//   +---------------+   +---------------+       +---------------+                  +---------------+
//
// The transform back is linear, so a panel's products are added to the sums of each row of outputs, times the point's
// coefficient in it: 4 FMA in place of an addition, for 4 rows, which the threads do while the other group multiplies.
// For 5 x 5 filters 8 points of a column become 4 rows: half of the products' bytes are neither written nor read again.
// The sums of all rows have 144 registers of a thread, so the tile is small, and the four blocks of a cluster fetch
// panels of both operands for each other: 256 output channels by 144 tiles. For each product that takes four thirds of
// the bytes that pairs of blocks of 256 x 120 take from the L2 cache.
#pragma once

#include "ops/cnn_layer/cnn_layer_winograd_split_arguments.h"
#include "ops/cnn_layer/cnn_layer_winograd_transforms.cuh"
#include "ops/gemm/gemm_split_products.cuh"
#include "ops/gemm/gemm_split_scale.cuh"

namespace tessera::cuda {

#if defined(TESSERA_CUDA_IS_HOPPER)

/// Column i of the transform back down: what point i adds to each row of outputs.
template <int kOutputs, int kFilter>
struct WinogradColumns {
  float of_point[kOutputs + kFilter - 1][kOutputs] = {};

  constexpr WinogradColumns() {
    for (int i = 0; i < kOutputs + kFilter - 1; ++i) {
      for (int k = 0; k < kOutputs; ++k) {
        of_point[i][k] = static_cast<float>(kWinogradNumbers<kOutputs, kFilter>.output[k][i]);
      }
    }
  }
};
template <int kOutputs, int kFilter>
__constant__ const WinogradColumns<kOutputs, kFilter> kWinogradColumns{};

/// One of a block's two warp groups, which multiplies its 64 rows of a tile for all points of a column. The groups take
/// turns, as those of SplitMultiplier do; what the next panel's products need is made ready while this one's go on,
/// because here the additions take the rest of the time that the other group's products leave.
template <GemmSplitShape kShape, int kOutputs, int kFilter>
class SplitColumnMultiplier {
 public:
  static constexpr int kPoints = kOutputs + kFilter - 1, kSums = kShape.tile_n / 2;
  static_assert(kShape.blocks_m == 1);

  __device__ __forceinline__ SplitColumnMultiplier(SplitShared<kShape>& shared, unsigned along_m, unsigned along_n)
      : shared_(shared),
        // From another lane, which is the same number: so the compiler knows that the warp's lanes have one.
        group_(__shfl_sync(~0U, static_cast<int>(threadIdx.x) / 128, 0)),
        a_first_(operand_in_chunks(shared.a[0][0][group_], kSplitRows * 16)),
        b_first_(operand_in_chunks(shared.b, kShape.tile_n * 16)) {
    const unsigned lane = threadIdx.x % 32;
    gives_a_back_ = lane < kShape.cluster_n, gives_b_back_ = lane < kShape.cluster_m;
    a_empty_ = address_at_block(shared.a_empty[0], along_m * kShape.cluster_n + (gives_a_back_ ? lane : 0));
    b_empty_ = address_at_block(shared.b_empty, along_n + (gives_b_back_ ? lane * kShape.cluster_n : 0));
    if (group_ == 1) pass_turn(group_);
  }

  /// `notes`: of the upper of a thread's two rows in the column's first point; the next point's lie `step` further.
  __device__ __forceinline__ void multiply(int panels, const GemmSplitNote* notes, std::int64_t step,
                                           float (&rows)[kOutputs][kSums]) {
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) rows[k][i] = 0;
    }
    int upper = notes[0].shift, lower = notes[8].shift;
    wait_for_panel();
#pragma unroll 1
    for (int point = 0; point < kPoints; ++point) {
      float of_upper[kOutputs], of_lower[kOutputs];
#pragma unroll
      for (int k = 0; k < kOutputs; ++k) {
        const float coefficient = kWinogradColumns<kOutputs, kFilter>.of_point[point][k];
        of_upper[k] = coefficient * near_power_of_two(-upper);
        of_lower[k] = coefficient * near_power_of_two(-lower);
      }
      // Powers that go beyond what float32 holds are a second factor.
      const int upper_rest = -upper - max(-126, min(127, -upper)), lower_rest = -lower - max(-126, min(127, -lower));
      if (point + 1 < kPoints) notes += step;
      upper = notes[0].shift, lower = notes[8].shift;  // long before they are used
#pragma unroll 1
      for (int panel = 0; panel < panels; ++panel) {
        float sum[kSums];
        multiply_panel(sum, point + 1 < kPoints || panel + 1 < panels);
        if ((upper_rest | lower_rest) != 0) scale(sum, near_power_of_two(upper_rest), near_power_of_two(lower_rest));
#pragma unroll
        for (int k = 0; k < kOutputs; ++k) {
#pragma unroll
          for (int i = 0; i < kSums; ++i) rows[k][i] = fmaf(i % 4 < 2 ? of_upper[k] : of_lower[k], sum[i], rows[k][i]);
        }
      }
    }
  }

 private:
  static __device__ __forceinline__ void scale(float (&sum)[kSums], float upper, float lower) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum[i] *= i % 4 < 2 ? upper : lower;
  }
  __device__ __forceinline__ void wait_for_panel() {
    wait(shared_.b_full[stage_b_.place], stage_b_.parity);
    wait(shared_.a_full[0][stage_a_.place], stage_a_.parity);
  }

  /// The next panel's products, and waits for the panel after that.
  __device__ __forceinline__ void multiply_panel(float (&sum)[kSums], bool has_more) {
    // In descriptors an address is a sixteenth. A step is two chunks of all rows.
    constexpr unsigned kStepOfA = 2 * kSplitRows, kStepOfB = 2 * kShape.tile_n;
    constexpr unsigned kPlaneOfA = kSplitRows * kSplitPlane * 2 / 16, kPlaneOfB = kShape.tile_n * kSplitPlane * 2 / 16;
    constexpr unsigned kPanelOfA = kSplitGroups * kSplitRows * kSplitRowBytes / 16,
                       kPanelOfB = kShape.tile_n * kSplitRowBytes / 16;
    const std::uint64_t a = operand_beside(a_first_, static_cast<unsigned>(stage_a_.place) * kPanelOfA);
    const std::uint64_t b = operand_beside(b_first_, static_cast<unsigned>(stage_b_.place) * kPanelOfB);
    wait_for_turn(group_);
    begin_products();
#pragma unroll
    for (int i = 0; i < kSplitSteps; ++i) {
      start_products(sum, operand_beside(a, kPlaneOfA + i * kStepOfA), operand_beside(b, i * kStepOfB), i != 0);
    }
#pragma unroll
    for (int i = 0; i < kSplitSteps; ++i) {
      start_products(sum, operand_beside(a, i * kStepOfA), operand_beside(b, kPlaneOfB + i * kStepOfB), true);
    }
#pragma unroll
    for (int i = 0; i < kSplitSteps; ++i) {
      start_products(sum, operand_beside(a, i * kStepOfA), operand_beside(b, i * kStepOfB), true);
    }
    close_products();
    pass_turn(group_);
    const unsigned a_empty = a_empty_ + static_cast<unsigned>(stage_a_.place) * sizeof(SharedBarrier);
    const unsigned b_empty = b_empty_ + static_cast<unsigned>(stage_b_.place) * sizeof(SharedBarrier);
    stage_a_.advance();
    stage_b_.advance();
    if (has_more) wait_for_panel();
    wait_for_products<0>();
    hold(sum);
    if (gives_a_back_) arrive_at(a_empty);
    if (gives_b_back_) arrive_at(b_empty);
  }

  SplitShared<kShape>& shared_;
  int group_;
  std::uint64_t a_first_;
  std::uint64_t b_first_;
  /// First barriers of the blocks to which this lane gives panels back: of the cluster's, those that share A or B.
  bool gives_a_back_, gives_b_back_;
  unsigned a_empty_, b_empty_;
  RingPlace<kShape.stages_a> stage_a_;
  RingPlace<kShape.stages_b> stage_b_;
};

/// A warp's 16 rows of a tile, of one row of outputs, in pieces of 512 bytes.
template <GemmSplitShape kShape, int kSums>
__device__ __forceinline__ void store_pieces(float* place, std::int64_t columns, const float (&sum)[kSums]) {
#pragma unroll
  for (int j = 0; j < kSums / 4; ++j) {
    if (j * kCnnLayerWinogradBlockTiles >= columns) return;
    __stcs(reinterpret_cast<float4*>(place + j * kCnnLayerWinogradBlock),
           make_float4(sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]));
  }
}

/// A product of the batch is a column of points here; point i of column x is number i * batch + x.
template <GemmSplitShape kShape, int kOutputs, int kFilter>
__device__ __forceinline__ void multiply_split_columns(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  SplitTiles<kShape> tiles(gemm);
  SplitColumnMultiplier<kShape, kOutputs, kFilter> multiplier(shared, tiles.along_m(), tiles.along_n());
  for (; tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const std::int64_t first_row = tile.row * kShape.tile_m() + warp / 4 * kSplitRows + warp % 4 * 16;
    const std::int64_t first_column = tile.column * kShape.tile_n;
    float rows[kOutputs][kShape.tile_n / 2];
    multiplier.multiply(gemm.panels, gemm.a_notes + tile.matrix * gemm.a_matrix_rows + first_row + lane / 4,
                        gemm.batch * gemm.a_matrix_rows, rows);
    if (first_row >= gemm.m) continue;
    const std::int64_t blocks = gemm.ldc / kCnnLayerWinogradBlockTiles;
    float* place = gemm.c + tile.matrix * gemm.stride_c + lane * 4 +
                   (first_row / kCnnLayerWinogradBlockOutputs * blocks + first_column / kCnnLayerWinogradBlockTiles) *
                       kCnnLayerWinogradBlock;
#pragma unroll
    for (int k = 0; k < kOutputs; ++k, place += gemm.batch * gemm.stride_c) {
      store_pieces<kShape>(place, gemm.n - first_column, rows[k]);
    }
  }
}

/// Single threads fetch the panels of A and of B for all points of a block's tiles.
template <GemmSplitShape kShape, int kPoints>
__device__ __forceinline__ void fetch_columns_of_a(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  RingPlace<kShape.stages_a> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const unsigned row_of_blocks = ((1U << kShape.cluster_n) - 1) << (tiles.along_m() * kShape.cluster_n);
    const unsigned char* panel =
        gemm.a_panels + (tile.matrix * gemm.a_matrix_rows + tile.row * kShape.tile_m()) * gemm.panels * kSplitRowBytes;
#pragma unroll 1
    for (int point = 0; point < kPoints; ++point) {
      fetch_panels_of_a(shared, stage, 0, panel, gemm.panels, tiles.along_n(), row_of_blocks);
      panel += gemm.batch * gemm.a_matrix_rows * gemm.panels * kSplitRowBytes;
    }
  }
}
template <GemmSplitShape kShape, int kPoints>
__device__ __forceinline__ void fetch_columns_of_b(const GemmSplitArguments& gemm, SplitShared<kShape>& shared) {
  constexpr unsigned kFirstColumn = kShape.cluster_m == 1 ? 1U : 1U | 1U << kShape.cluster_n;
  static_assert(kShape.cluster_m <= 2);
  RingPlace<kShape.stages_b> stage;
  for (SplitTiles<kShape> tiles(gemm); tiles.has_more(); tiles.advance()) {
    const SplitTile tile = tiles.tile();
    const unsigned char* panel =
        gemm.b_panels + (tile.matrix * gemm.b_matrix_rows + tile.column * kShape.tile_n) * gemm.panels * kSplitRowBytes;
#pragma unroll 1
    for (int point = 0; point < kPoints; ++point) {
      fetch_panels_of_b(shared, stage, panel, gemm.panels, tiles.along_m(), kFirstColumn << tiles.along_n());
      panel += gemm.batch * gemm.b_matrix_rows * gemm.panels * kSplitRowBytes;
    }
  }
}

#endif  // TESSERA_CUDA_IS_HOPPER

template <GemmSplitShape kShape, int kOutputs, int kFilter>
__device__ __forceinline__ void multiply_columns(const GemmSplitArguments& gemm) {
#if defined(TESSERA_CUDA_IS_HOPPER)
  constexpr int kPoints = kOutputs + kFilter - 1;
  extern __shared__ __align__(128) unsigned char shared_bytes_of_block[];
  auto& shared = *reinterpret_cast<SplitShared<kShape>*>(shared_bytes_of_block);
  static_assert(sizeof(shared) <= kShape.shared_bytes());
  if (threadIdx.x == 0) shared.initialise_barriers();
  synchronise_cluster();
  wait_for_kernel_before();
  let_next_kernel_start();
  const int warp = static_cast<int>(threadIdx.x) / 32 - kSplitGroups * 4;
  if (warp < 0) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    multiply_split_columns<kShape, kOutputs, kFilter>(gemm, shared);
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 32 == 0) {
      if (warp == 0) {
        fetch_columns_of_b<kShape, kPoints>(gemm, shared);
      } else if (warp == 1) {
        fetch_columns_of_a<kShape, kPoints>(gemm, shared);
      }
    }
  }
  __syncwarp();
  synchronise_cluster();  // another block may still write here
#else
  __trap();
#endif
}

}  // namespace tessera::cuda
