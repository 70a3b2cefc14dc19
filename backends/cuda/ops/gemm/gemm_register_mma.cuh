// float64 in gemm's register variant: a warp's tile of C in registers, multiplied by the tensor cores, which take
// float64 from sm_80 on, without any rounding but that of a fused multiply-add.
//
//           n = g                  An mma instruction multiplies 16 x 4 elements of A with 4 x 8 of B. Lane 4 g + t
//          +-----+                 holds rows g and g + 8 of step t of A, column g of step t of B, and, of rows g and
//        t |  b  |                 g + 8 of the sums, columns 2 t and 2 t + 1.
//    t     +-----+
//   +----+ +-----+                 Which of the tile's rows and columns these are is ours to say. Where k lies across,
//   | a0 | |c0 c1|  m = g          they are two neighbours, which a lane reads at once, 16 bytes; where k lies along,
//   |    | |     |                 two that are two apart, each read alone. So both arrive in the registers from which
//   | a1 | |c2 c3|  m = g + 8      the instruction takes them; two steps read at once would have to be moved there.
//   +----+ +-----+                 The sums of two instructions are four neighbours of a row. Four steps are read
//                                  while the four before are multiplied.
//
// sm_75 has no such cores. There the lanes exchange their elements and multiply by themselves. The exchange costs less
// than the multiplications, because those cards multiply float64 slowly.
#pragma once

#include "cuda_matrix_products.cuh"
#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

template <int kRows_, int kColumns_>
struct MmaWarp {
  using T = double;
  static constexpr int kRows = kRows_, kColumns = kColumns_;
  static_assert(kRows % 16 == 0 && kColumns % 16 == 0);

  template <int kExtent, int kDepth, GemmLayout kLayout>
  using StageA = Stage<double, kExtent, kDepth, kLayout, 1>;
  template <int kExtent, int kDepth, GemmLayout kLayout>
  using StageB = StageA<kExtent, kDepth, kLayout>;

  template <class StageA, class StageB>
  class Tile {
   public:
    static constexpr int kSteps = 4;  ///< along k, of one load()
    static constexpr bool kLoadsAhead = true;
    static constexpr int kBlocks = kRows * kColumns / 128;  ///< of four neighbouring elements
    static constexpr int kVectors = 2;                      ///< of 16 bytes, of a block

    /// The rows and columns of the warp, and where the lane's steps begin within a stage.
    __device__ Tile(int lane, int row, int column, int step)
        : a_(start<StageA>(lane, row, step)), b_(start<StageB>(lane, column, step)) {}

    __device__ __forceinline__ void load(const double* a, const double* b, int l) {
      Elements& next = elements_[l / kSteps % 2];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) load_pair<StageA>(next.a[i][0], next.a[i][1], a, a_, l, i * 16);
#pragma unroll
      for (int j = 0; j < kTilesN; j += 2) load_pair<StageB>(next.b[j], next.b[j + 1], b, b_, l, j * 8);
    }

    __device__ __forceinline__ void multiply(int l) {
      const Elements& now = elements_[l / kSteps % 2];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) multiply_16x8(sum_[i][j], now.a[i][0], now.a[i][1], now.b[j]);
      }
    }

    /// Calls store(row, column, four elements) for every run of four neighbours.
    template <class Store>
    __device__ __forceinline__ void store_all(int lane, Store store) const {
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const Run<double, 2> vectors[2] = {vector(block, 0), vector(block, 1)};
        store_block(lane, block, vectors, store);
      }
    }
    /// Calls change(row, column, element) for every element.
    template <class Change>
    __device__ __forceinline__ void change_all(int lane, Change change) {
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int pair = StageB::kIsAlong ? j % 2 : k % 2, one = StageB::kIsAlong ? k % 2 : j % 2;
            change(row_of(lane, i, k / 2), j / 2 * 16 + lane % 4 * 4 + 2 * pair + one, sum_[i][j][k]);
          }
        }
        __syncwarp();  // else the compiler begins with all columns at once, which no registers are left for
      }
    }
    [[nodiscard]] __device__ __forceinline__ Run<double, 2> vector(int block, int vector) const {
      const int i = block / kTilesN, half = block / (kTilesN / 2) % 2, j = block % (kTilesN / 2) * 2;
      Run<double, 2> run;
#pragma unroll
      for (int element = 0; element < 2; ++element) {
        const int tile = StageB::kIsAlong ? vector : element;
        run.element[element] = sum_[i][j + tile][2 * half + (StageB::kIsAlong ? element : vector)];
      }
      return run;
    }
    /// The same as store_all() for one block, from its vectors.
    template <class Store>
    static __device__ __forceinline__ void store_block(int lane, int block, const Run<double, 2> (&vectors)[2],
                                                       Store store) {
      const int i = block / kTilesN, half = block / (kTilesN / 2) % 2, j = block % (kTilesN / 2);
      const double sum[4] = {vectors[0].element[0], vectors[0].element[1], vectors[1].element[0],
                             vectors[1].element[1]};
      store(row_of(lane, i, half), j * 16 + lane % 4 * 4, sum);
    }

   private:
    static constexpr int kTilesM = kRows / 16;
    static constexpr int kTilesN = kColumns / 8;

    struct Elements {
      double a[kTilesM][2];
      double b[kTilesN];
    };

    static __device__ __forceinline__ int row_of(int lane, int i, int half) {
      const int g = lane / 4;
      return i * 16 + (StageA::kIsAlong ? g / 2 * 4 + 2 * half + g % 2 : 2 * g + half);
    }
    /// Where the lane's elements begin, of rows or columns from x on and of steps from `step` on.
    template <class Stage>
    static __device__ __forceinline__ int start(int lane, int x, int step) {
      const int g = lane / 4, t = lane % 4;
      if constexpr (Stage::kIsAlong) {
        const int own = x + g / 2 * 4 + g % 2;
        return own * Stage::kRow + ((step + t) ^ kChunk<double> * Stage::twist(own));
      }
      return (step + t) * Stage::kRow + ((x + 2 * g) ^ Stage::twist(step + t));
    }
    /// The lane's two elements of step l, `x` rows or columns behind its first.
    template <class Stage>
    static __device__ __forceinline__ void load_pair(double& first, double& second, const double* stage, int start,
                                                     int l, int x) {
      if constexpr (Stage::kIsAlong) {
        first = stage[(start ^ l) + x * Stage::kRow];
        second = stage[(start ^ l) + (x + 2) * Stage::kRow];
      } else {
        const auto pair = *reinterpret_cast<const Run<double, 2>*>(stage + start + l * Stage::kRow + x);
        first = pair.element[0];
        second = pair.element[1];
      }
    }

    int a_;
    int b_;
    Elements elements_[2];
    double sum_[kTilesM][kTilesN][4] = {};
  };
};

}  // namespace tessera::cuda
