// float32 in gemm's register variant: a warp's tile of C in registers, every product a fused multiply-add of the thread
// that holds the sum.
//
//        b b b b   b b b b           32 lanes, kLanesM down and the rest across, each with runs of 4 x 4 elements of C:
//      a c c c c . c c c c           a step along k reads kThreadRows elements of A and kThreadColumns of B from shared
//      a c c c c . c c c c           memory, 16 bytes a lane (8 along k), neighbouring lanes neighbouring runs, while
//      . . .                         the step before is multiplied.
//
// Registers lie in two banks, even and odd. An instruction that reads two registers of one bank takes a cycle longer,
// unless the instruction before has read one of them in the same operand. So the products go along rows (or columns) of
// the thread's tile, there and back: one factor stays the same, and only the other factor and the sum must lie in
// different banks. The other factor's runs come in four registers in a row. So the sums should lie four in a row with
// neighbours exchanged. The language cannot say that, but the compiler keeps four registers together that one
// instruction stores: vector() makes use of it. In the machine code for sm_90a 6 % of the products have a bank conflict
// so (11 % where A is turned), and 25 % without vector().
#pragma once

#include "ops/gemm/gemm_register_fetch.cuh"

namespace tessera::cuda {

/// The elements of one operand's stage that a lane holds, for the step that is multiplied and for the next one. They
/// are runs of four neighbours; or, if kSpread and where k lies along, single elements kLanes apart, because those are
/// what the lanes can read from different banks at once.
template <class Stage, int kCount, int kLanes, bool kSpread>
class FmaFragment {
 public:
  /// `first` is the warp's row or column, `step` where the lane's steps begin.
  __device__ FmaFragment(int lane, int first, int step) {
    const int x = first + lane * (kSingle ? 1 : 4);
    place_ = Stage::kIsAlong ? (x * Stage::kRow + Stage::twist(x) * 4) ^ step
                             : step * Stage::kRow + (x ^ Stage::twist(step));
  }

  /// Which of the warp's rows or columns element i is.
  static __device__ __forceinline__ int at(int lane, int i) { return lane * (kSingle ? 1 : 4) + offset(i); }

  __device__ __forceinline__ void load(const float* stage, int l) {
    if constexpr (Stage::kIsAlong) {
      if (l % kGroup != 0) return;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int place = (place_ ^ (l / 4 * 4 ^ Stage::twist(offset(i)) * 4)) + offset(i) * Stage::kRow + l % 4;
        const Run<float, kGroup> run = *reinterpret_cast<const Run<float, kGroup>*>(stage + place);
#pragma unroll
        for (int step = 0; step < kGroup; ++step) value_[l / kGroup % 2][step][i] = run.element[step];
      }
    } else {
      constexpr int kOfLanes = 4 * kLanes - 1;  // the bits of a place that depend on the lane; the others are constants
      const int twist = Stage::twist(l);
      const float* const row = stage + l * Stage::kRow + (place_ ^ (twist & kOfLanes));
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        const Run<float, 4> run = *reinterpret_cast<const Run<float, 4>*>(row + (offset(i) ^ (twist & ~kOfLanes)));
#pragma unroll
        for (int j = 0; j < 4; ++j) value_[l % 2][0][i + j] = run.element[j];
      }
    }
  }

  [[nodiscard]] __device__ __forceinline__ float get(int l, int i) const {
    return value_[l / kGroup % 2][l % kGroup][i];
  }

 private:
  static constexpr bool kSingle = Stage::kIsAlong && kSpread;
  static constexpr int kGroup = Stage::kIsAlong ? 2 : 1;  // steps of one load
  static __host__ __device__ constexpr int offset(int i) {
    return kSingle ? i * kLanes : i / 4 * 4 * kLanes + i % 4;
  }

  int place_;
  float value_[2][kGroup][kCount];
};

template <int kRows_, int kColumns_, int kLanesM, bool kAlongRows, bool kMixed = false>
struct FmaWarp {
  using T = float;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kLanesN = 32 / kLanesM;
  static constexpr int kThreadRows = kRows / kLanesM, kThreadColumns = kColumns / kLanesN;
  static_assert(kThreadRows % 4 == 0 && kThreadColumns % 4 == 0);

  template <int kExtent, int kDepth, GemmLayout kLayout>
  using StageA = Stage<float, kExtent, kDepth, kLayout, (kDepth < 32 ? 32 / kDepth : 1)>;
  template <int kExtent, int kDepth, GemmLayout kLayout>
  using StageB = Stage<float, kExtent, kDepth, kLayout, 4>;

  template <class StageA, class StageB>
  class Tile {
   public:
    static constexpr int kSteps = 1;                                   ///< along k, of one load()
    static constexpr bool kLoadsAhead = true;                          ///< load() of a step may come before multiply()
                                                                       ///  of the step before
    static constexpr int kBlocks = kThreadRows * kThreadColumns / 16;  ///< of 4 x 4 elements
    static constexpr int kVectors = 4;                                 ///< of 16 bytes, of a block

    __device__ Tile(int lane, int row, int column, int step)
        : a_(lane_m(lane), row, step), b_(lane_n(lane), column, step) {}

    __device__ __forceinline__ void load(const float* a, const float* b, int l) {
      a_.load(a, l);
      b_.load(b, l);
    }

    __device__ __forceinline__ void multiply(int l) {
      if constexpr (kAlongRows) {
#pragma unroll
        for (int i = 0; i < kThreadRows; ++i) {
#pragma unroll
          for (int j = 0; j < kThreadColumns; ++j) add_product(l, i, i % 2 == 0 ? j : kThreadColumns - 1 - j);
        }
      } else {
#pragma unroll
        for (int j = 0; j < kThreadColumns; ++j) {
#pragma unroll
          for (int i = 0; i < kThreadRows; ++i) add_product(l, j % 2 == 0 ? i : kThreadRows - 1 - i, j);
        }
      }
    }

    /// Calls store(row, column, four elements) for every run of four neighbours.
    template <class Store>
    __device__ __forceinline__ void store_all(int lane, Store store) const {
#pragma unroll
      for (int i = 0; i < kThreadRows; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadColumns; j += 4) {
          store(FragmentA::at(lane_m(lane), i), FragmentB::at(lane_n(lane), j), &sum_[i][j]);
        }
      }
    }

    /// Calls change(row, column, element) for every element.
    template <class Change>
    __device__ __forceinline__ void change_all(int lane, Change change) {
#pragma unroll
      for (int i = 0; i < kThreadRows; ++i) {
#pragma unroll
        for (int j = 0; j < kThreadColumns; ++j) {
          change(FragmentA::at(lane_m(lane), i), FragmentB::at(lane_n(lane), j), sum_[i][j]);
        }
      }
    }

    /// A part of a block, in the order that suits the banks.
    [[nodiscard]] __device__ __forceinline__ Run<float, 4> vector(int block, int vector) const {
      const int i = block / (kThreadColumns / 4) * 4, j = block % (kThreadColumns / 4) * 4;
      Run<float, 4> run;
#pragma unroll
      for (int element = 0; element < 4; ++element) {
        run.element[element] = kAlongRows ? sum_[i + vector][j + (element ^ 1)] : sum_[i + (element ^ 1)][j + vector];
      }
      return run;
    }
    /// The same as store_all() for one block, from its vectors.
    template <class Store>
    static __device__ __forceinline__ void store_block(int lane, int block, const Run<float, 4> (&vectors)[4],
                                                       Store store) {
      const int i = block / (kThreadColumns / 4) * 4, j = block % (kThreadColumns / 4) * 4;
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        float sum[4];
#pragma unroll
        for (int column = 0; column < 4; ++column) {
          sum[column] = kAlongRows ? vectors[row].element[column ^ 1] : vectors[column].element[row ^ 1];
        }
        store(FragmentA::at(lane_m(lane), i + row), FragmentB::at(lane_n(lane), j), sum);
      }
    }

   private:
    using FragmentA = FmaFragment<StageA, kThreadRows, kLanesM, true>;
    using FragmentB = FmaFragment<StageB, kThreadColumns, kLanesN, false>;

    static __device__ __forceinline__ int lane_m(int lane) {
      if constexpr (!kMixed) return lane / kLanesN;
      return kLanesM == 8 ? lane >> 1 & 7 : (lane & 1) | (lane >> 3 & 2);
    }
    static __device__ __forceinline__ int lane_n(int lane) {
      if constexpr (!kMixed) return lane % kLanesN;
      return kLanesM == 8 ? (lane & 1) | (lane >> 3 & 2) : lane >> 1 & 7;
    }

    __device__ __forceinline__ void add_product(int l, int i, int j) {
      sum_[i][j] += a_.get(l, i) * b_.get(l, j);
    }

    FragmentA a_;
    FragmentB b_;
    float sum_[kThreadRows][kThreadColumns] = {};
  };
};

}  // namespace tessera::cuda
