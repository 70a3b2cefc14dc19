// patch_match, packed_key, for floats and 16 bits: one thread, its reference, and the list of its nearest candidates.
// See patch_match_screen.cu.
#pragma once

#include <cfloat>

#include "ops/patch_match/patch_match_screen_exact.cuh"
#include "ops/patch_match/patch_match_screen_norms.cuh"

namespace tessera::cuda {

/// One reference. kPatch: the patch's voxels along each axis where the loops are made for them, else 0.
template <class Types, int kPatch, int kLanes, int kPlaces>
class ScreenThread {
 public:
  using Sum = typename Types::Sum;

  __device__ ScreenThread(const PatchScreenArguments& screen, const PatchWindow& window, const float* own,
                          float* staged)
      : screen_(screen),
        own_(own),
        staged_(staged),
        list_(screen, kPlaces - static_cast<int>(screen.match.max_patches), screen.most) {
    const PatchArguments& match = screen.match;
    const std::int64_t line = window.reference / match.size[0];
    const std::int64_t plane = line / match.size[1];
    const std::int64_t place[3] = {window.reference - line * match.size[0], line - plane * match.size[1], plane};
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      begin_[axis] = static_cast<int>(window.first[axis] - place[axis] + match.window[axis] / 2);
      count_[axis] = static_cast<int>(window.count[axis]);
      width_[axis] = static_cast<int>(match.window[axis]);
    }
    candidates_ = own_ - width_[2] / 2 * screen.plane - width_[1] / 2 * screen.row - width_[0] / 2;
    norms_ = screen.norms +
             ((place[2] - width_[2] / 2) * match.places[1] + place[1] - width_[1] / 2) * match.places[0] + place[0] -
             width_[0] / 2;
  }

  /// Makes sums of norms and products. Not where the reference's voxels are so large that they might overflow.
  [[nodiscard]] __device__ __forceinline__ bool begin_by_norms() {
    const PatchArguments& match = screen_.match;
    const std::int64_t line = width_[2] / 2 * match.places[1] + width_[1] / 2;
    by_norms_ = ScreenNorms(screen_, own_, screen_norm(norms_ + line * match.places[0] + width_[0] / 2));
    if (!by_norms_.may_be_used()) return false;
    const float most = screen_.most < 0 ? screen_.most : screen_.most + by_norms_.apart(screen_.most);
    begin_list(most);
    return true;
  }
  /// Makes sums of squared differences.
  __device__ __forceinline__ void begin_by_differences() {
    by_norms_ = ScreenNorms();
    begin_list(screen_.most);
  }
  /// Lists the nearest of the window by their sums.
  template <bool kByNorms>
  __device__ __forceinline__ void look() {
    const int first = begin_[0] / kLanes * kLanes;
    const int end = begin_[0] + count_[0];
#pragma unroll 1
    for (int z = begin_[2]; z < begin_[2] + count_[2]; ++z) {
      int y = begin_[1];
#pragma unroll 1
      for (; y + kPatchScreenRows <= begin_[1] + count_[1]; y += kPatchScreenRows) {
#pragma unroll 1
        for (int x = first; x < end; x += kLanes) look_at<kByNorms, kPatchScreenRows>(x, y, z);
      }
#pragma unroll 1
      for (; y < begin_[1] + count_[1]; ++y) {
#pragma unroll 1
        for (int x = first; x < end; x += kLanes) look_at<kByNorms, 1>(x, y, z);
      }
    }
  }
  /// Finds the listed ones' distances, and writes the stack if it is known that no other can be among it. Else as many
  /// candidates as a stack has places are as near as `limit`, or nearer.
  [[nodiscard]] __device__ __forceinline__ bool write(const PatchWindow& window, std::int64_t reference, Sum& limit) {
    const PatchArguments& match = screen_.match;
    const bool has_all = list_.has_all();
    // A sum that overflows may have a distance that does not.
    const float last_sum = fminf(list_.last_sum(), FLT_MAX);
    const bool may_be_equal = !has_all && list_.last_sum() == 0;
    const Sum unkept = first_unkept_sum<Sum>(match);
    bool are_equal = may_be_equal;
    PatchKeys<Types, std::uint64_t, kPlaces> keys(match);
    // Zeros before the first are taken, and left out.
    const int skipped = kPlaces - static_cast<int>(match.max_patches);
#pragma unroll 1
    for (int i = 0; i < kPlaces + kPatchScreenSpare; ++i) {
      const int number = list_.take();
      if (i < skipped || number < 0) continue;
      const int line = number / width_[0];
      const int x = number - line * width_[0];
      const int z = line / width_[1];
      const int y = line - z * width_[1];
      const int in_window = ((z - begin_[2]) * count_[1] + y - begin_[1]) * count_[0] + x - begin_[0];
      const Sum found =
          screen_distance<Types, kPatch>(screen_, own_, candidates_ + z * screen_.plane + y * screen_.row + x);
      are_equal = are_equal && found == 0;
      if (found < unkept) keys.insert(found, in_window);
    }
    // Where all that are listed equal the reference, those that are not have higher numbers.
    limit = keys.limit_of(match, static_cast<int>(match.max_patches));
    if (!has_all && !are_equal && !is_beyond(last_sum, limit)) return false;
    keys.write(match, window, reference);
    return true;
  }
  /// What all lanes of the warp need to find the stack together.
  [[nodiscard]] __device__ __forceinline__ ScreenWindow window_in(const float* region) const {
    return {static_cast<int>(own_ - region),
            static_cast<int>(candidates_ - region) + begin_[2] * screen_.plane + begin_[1] * screen_.row + begin_[0],
            {count_[0], count_[1], count_[2]}};
  }

 private:
  using List = ScreenList<kPlaces + kPatchScreenSpare>;

  __device__ __forceinline__ void begin_list(float most) {
    list_ = List(screen_, kPlaces - static_cast<int>(screen_.match.max_patches), most);
  }
  /// Is nothing whose sum is as large as this among what is nearer than the limit? A distance at the limit itself may
  /// tie.
  [[nodiscard]] __device__ __forceinline__ bool is_beyond(float sum, Sum limit) const {
    float nearest = 0;
    if constexpr (std::is_same_v<Sum, float>) {
      nearest = limit;
    } else {
      nearest = __ull2float_ru(limit);
    }
    const float least = __fsub_rd(sum, by_norms_.apart(nearest));
    return nearest < __fsub_rd(__fmul_rd(least, screen_.part), screen_.underflow);
  }
  template <bool kByNorms, int kRows>
  __device__ __forceinline__ void look_at(int x, int y, int z) {
    float sums[kRows][kLanes];
    const float* candidates = candidates_ + z * screen_.plane + y * screen_.row + x;
    if constexpr (kByNorms) {
      const PatchArguments& match = screen_.match;
      const PatchScreenNorm* norms = norms_ + (z * match.places[1] + y) * match.places[0] + x;
      multiply(candidates, sums);
#pragma unroll
      for (int row = 0; row < kRows; ++row, norms += match.places[0]) {
#pragma unroll
        for (int i = 0; i < kLanes; ++i) sums[row][i] = by_norms_.sum(screen_norm(norms + i), sums[row][i]);
      }
    } else {
      add_up(candidates, sums);
    }
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      unsigned nearer = 0;
#pragma unroll
      for (int i = 0; i < kLanes; ++i) nearer |= sums[row][i] <= list_.bound() ? 1U << i : 0U;
      // Of candidates that exist.
      const int first = max(begin_[0] - x, 0);
      const int end = min(max(begin_[0] + count_[0] - x, 0), kLanes);
      nearer &= (1U << end) - (1U << min(first, end));
      if (nearer != 0) {
#pragma unroll
        for (int i = 0; i < kLanes; ++i) staged_[i * 32] = sums[row][i];
      }
      const int number = (z * width_[1] + y + row) * width_[0] + x;
#pragma unroll 1
      for (; nearer != 0; nearer &= nearer - 1) {
        const int i = __ffs(static_cast<int>(nearer)) - 1;
        const float sum = staged_[i * 32];
        if (sum <= list_.bound()) list_.offer(sum, number + i);
      }
    }
  }
  /// The products of kRows rows of candidates, whose first stands here, with the reference's patch.
  template <int kRows>
  __device__ __forceinline__ void multiply(const float* candidates, float (&sums)[kRows][kLanes]) const {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int i = 0; i < kLanes; ++i) sums[row][i] = by_norms_.begin();
    }
    const float* own = own_;
#pragma unroll 1
    for (int plane = 0; plane < kPatch; ++plane, own += screen_.plane, candidates += screen_.plane) {
      float centred[kRows][kPatch];  // of the last rows
#pragma unroll
      for (int row = 0; row < kPatch + kRows - 1; ++row) {
#pragma unroll
        for (int of = kRows - 1; of > 0; --of) {
#pragma unroll
          for (int x = 0; x < kPatch; ++x) centred[of][x] = centred[of - 1][x];
        }
        if (row < kPatch) {
#pragma unroll
          for (int x = 0; x < kPatch; ++x) centred[0][x] = by_norms_.centred(own[row * screen_.row + x]);
        }
        float voxels[kLanes + kPatch - 1];
#pragma unroll
        for (int i = 0; i < kLanes + kPatch - 1; ++i) voxels[i] = candidates[row * screen_.row + i];
#pragma unroll
        for (int of = 0; of < kRows; ++of) {
          if (row < of || row - of >= kPatch) continue;
#pragma unroll
          for (int x = 0; x < kPatch; ++x) {
#pragma unroll
            for (int i = 0; i < kLanes; ++i) sums[of][i] = __fmaf_rn(centred[of][x], voxels[i + x], sums[of][i]);
          }
        }
      }
    }
  }
  /// The sums of kRows rows of candidates, whose first stands here.
  template <int kRows>
  __device__ __forceinline__ void add_up(const float* candidates, float (&sums)[kRows][kLanes]) const {
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
#pragma unroll
      for (int i = 0; i < kLanes; ++i) sums[row][i] = 0;
    }
    const float* own = own_;
#pragma unroll 1
    for (int plane = 0; plane < patch(2); ++plane) {
      if constexpr (kPatch > 0) {
        // Rows that all patches have are a loop: a program of fewer instructions is fetched faster.
        constexpr int kFirst = kRows - 1;
#pragma unroll
        for (int row = 0; row < kFirst; ++row) {
          add_rows<kPatch>(own + row * screen_.row, candidates + row * screen_.row, row, sums);
        }
#pragma unroll 1
        for (int row = kFirst; row < kPatch; ++row) {
          add_rows<kPatch>(own + row * screen_.row, candidates + row * screen_.row, kFirst, sums);
        }
#pragma unroll
        for (int row = kPatch; row < kPatch + kRows - 1; ++row) {
          add_rows<kPatch>(own + row * screen_.row, candidates + row * screen_.row, row, sums);
        }
      } else {
#pragma unroll 1
        for (int row = 0; row < patch(1) + kRows - 1; ++row) {
          constexpr int kTogether = 4;
          int x = 0;
#pragma unroll 1
          for (; x + kTogether <= patch(0); x += kTogether) {
            add_rows<kTogether>(own + row * screen_.row + x, candidates + row * screen_.row + x, row, sums);
          }
#pragma unroll 1
          for (; x < patch(0); ++x) {
            add_rows<1>(own + row * screen_.row + x, candidates + row * screen_.row + x, row, sums);
          }
        }
      }
      own += screen_.plane;
      candidates += screen_.plane;
    }
  }
  /// A row of the candidates' voxels, which is row `row - i` of the patches of row i.
  template <int kVoxels, int kRows>
  __device__ __forceinline__ void add_rows(const float* own, const float* candidates, int row,
                                           float (&sums)[kRows][kLanes]) const {
    float voxels[kLanes + kVoxels - 1];
#pragma unroll
    for (int i = 0; i < kLanes + kVoxels - 1; ++i) voxels[i] = candidates[i];
#pragma unroll
    for (int of = 0; of < kRows; ++of) {
      if (row < of || row - of >= patch(1)) continue;
#pragma unroll
      for (int x = 0; x < kVoxels; ++x) {
        const float voxel = own[x - of * screen_.row];
#pragma unroll
        for (int i = 0; i < kLanes; ++i) {
          const float apart = __fsub_rn(voxel, voxels[i + x]);
          sums[of][i] = __fmaf_rn(apart, apart, sums[of][i]);
        }
      }
    }
  }
  [[nodiscard]] __device__ __forceinline__ int patch(int axis) const {
    return kPatch > 0 ? kPatch : static_cast<int>(screen_.match.patch[axis]);
  }

  const PatchScreenArguments& screen_;
  const float* own_;  ///< the reference's first voxel
  float* staged_;
  const float* candidates_;  ///< the first of the window, were it whole
  int begin_[3];             ///< of the window: what exists of it
  int count_[3];
  int width_[3];
  const PatchScreenNorm* norms_;  ///< the same, of the places of a volume
  ScreenNorms by_norms_;
  List list_;
};

}  // namespace tessera::cuda
