// float64 in gemm's register variant: a warp's tile of C in registers, multiplied by the tensor cores, which take
// float64 from sm_80 on, without any rounding but that of a fused multiply-add.
//
//           n = g                    An mma instruction multiplies 16 x 4 elements of A with 4 x 8 of B. Lane 4 g + t
//          +-----+                   holds rows g and g + 8 of step t of A, column g of step t of B, and, of rows g and
//        t |  b  |                   g + 8 of the sums, columns 2 t and 2 t + 1.
//    t     +-----+
//   +----+ +-----+                   Which of the tile's rows, columns and steps these are is ours to say, so they are
//   | a0 | |c0 c1|  m = g            those that a lane can read 16 bytes at a time: where k lies across, two rows of a
//   |    | |     |                   step, of eight steps those of the numbers 2 t and 2 t + 1; where k lies along, the
//   | a1 | |c2 c3|  m = g + 8        two steps of a row. The sums of two instructions are four neighbours of a row.
//   +----+ +-----+
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
    static constexpr int kSteps = 8;                        ///< along k, of one load()
    static constexpr bool kLoadsAhead = false;              ///< the registers would not suffice
    static constexpr int kBlocks = kRows * kColumns / 128;  ///< of four neighbouring elements
    static constexpr int kVectors = 2;                      ///< of 16 bytes, of a block

    /// The rows and columns of the warp, and where the lane's steps begin within a stage.
    __device__ Tile(int lane, int row, int column, int step) {
      const int g = lane / 4, t = lane % 4;
      const int b_column = column + g / 2 * 4 + g % 2;
      a_ = StageA::kIsAlong ? ((row + g) * StageA::kRow + (t ^ StageA::twist(g)) * 2) ^ step
                            : (step + 2 * t) * StageA::kRow + ((row + 2 * g) ^ StageA::twist(step + 2 * t));
      b_ = StageB::kIsAlong ? (b_column * StageB::kRow + (t ^ StageB::twist(g)) * 2) ^ step
                            : (step + 2 * t) * StageB::kRow + ((column + 2 * g) ^ StageB::twist(step + 2 * t));
    }

    __device__ __forceinline__ void load(const double* a, const double* b, int l) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
          const Run<double, 2> run =
              read(StageA::kIsAlong ? a + (a_ ^ l) + (i * 16 + half * 8) * StageA::kRow
                                    : a + (a_ ^ StageA::twist(l)) + (l + half) * StageA::kRow + i * 16);
          a_run_[StageA::kIsAlong ? 0 : half][i][StageA::kIsAlong ? half : 0] = run.element[0];
          a_run_[StageA::kIsAlong ? 1 : half][i][StageA::kIsAlong ? half : 1] = run.element[1];
        }
#pragma unroll
        for (int j = 0; j < kTilesN; j += 2) {
          const Run<double, 2> run =
              read(StageB::kIsAlong ? b + (b_ ^ l) + (j * 8 + half * 2) * StageB::kRow
                                    : b + (b_ ^ StageB::twist(l)) + (l + half) * StageB::kRow + j * 8);
          b_run_[StageB::kIsAlong ? 0 : half][StageB::kIsAlong ? j + half : j] = run.element[0];
          b_run_[StageB::kIsAlong ? 1 : half][StageB::kIsAlong ? j + half : j + 1] = run.element[1];
        }
      }
    }

    __device__ __forceinline__ void multiply(int) {
#pragma unroll
      for (int step = 0; step < 2; ++step) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
          for (int j = 0; j < kTilesN; ++j) {
            multiply_16x8(sum_[i][j], a_run_[step][i][0], a_run_[step][i][1], b_run_[step][j]);
          }
        }
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
      const int g = lane / 4, t = lane % 4;
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int half = k / 2, pair = StageB::kIsAlong ? j % 2 : k % 2, one = StageB::kIsAlong ? k % 2 : j % 2;
            change(i * 16 + (StageA::kIsAlong ? g + 8 * half : 2 * g + half), j / 2 * 16 + 4 * t + 2 * pair + one,
                   sum_[i][j][k]);
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
      const int g = lane / 4, t = lane % 4;
      const double sum[4] = {vectors[0].element[0], vectors[0].element[1], vectors[1].element[0],
                             vectors[1].element[1]};
      store(i * 16 + (StageA::kIsAlong ? g + 8 * half : 2 * g + half), j * 16 + 4 * t, sum);
    }

   private:
    static constexpr int kTilesM = kRows / 16;
    static constexpr int kTilesN = kColumns / 8;

    static __device__ __forceinline__ Run<double, 2> read(const double* from) {
      return *reinterpret_cast<const Run<double, 2>*>(from);
    }

    int a_;
    int b_;
    double a_run_[2][kTilesM][2];
    double b_run_[2][kTilesN];
    double sum_[kTilesM][kTilesN][4] = {};
  };
};

}  // namespace tessera::cuda
