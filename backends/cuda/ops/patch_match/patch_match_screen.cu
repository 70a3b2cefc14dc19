// patch_match, packed_key, for floats and 16 bits: a group a tile of references, whose candidates' voxels all lie in
// shared memory as floats.
//
//   region of a tile      a warp         A thread has one reference and walks over its window, 2 rows of up to 11
//   +-----------------+   8 references   candidates at a time: a row of voxels is read once for both. Voxels are
//   | +-------------+ |   along x, 4     subtracted and squares added, fused, two operations in place of three and none
//   | | references  | |   along z; or    of 64 bits: so the sums are near the distances, but not the same bits.
//   | +-------------+ |   32 along x     They screen: a list of the nearest, a few more than the stack has places, is
//   +-----------------+                  kept by them, 32 bits each. The listed ones' distances are then found as
//                                        defined (decision 0017), sorted, and written.
//
// All others lie at the last listed sum or beyond it. Where the last distance kept is below what that sum stands for at
// least, no other can be among the stack; else the reference's count is left at -1, and a second launch, of
// patch_match_packed_key.cu, finds its stack. That happens where many candidates tie.
//
// A window's rows are walked over whole, also where the volume ends: a candidate that does not exist is masked.
#include <cfloat>

#include "ops/patch_match/patch_match_keys.cuh"
#include "ops/patch_match/patch_match_screen.cuh"

namespace tessera::cuda {

namespace {

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
        list_(screen, kPlaces - static_cast<int>(screen.match.max_patches)) {
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
  }

  /// Lists the nearest of the window by their sums.
  __device__ __forceinline__ void look() {
#pragma unroll 1
    for (int z = begin_[2]; z < begin_[2] + count_[2]; ++z) {
      int y = begin_[1];
#pragma unroll 1
      for (; y + kPatchScreenRows <= begin_[1] + count_[1]; y += kPatchScreenRows) {
#pragma unroll 1
        for (int x = 0; x < width_[0]; x += kLanes) look_at<kPatchScreenRows>(x, y, z);
      }
#pragma unroll 1
      for (; y < begin_[1] + count_[1]; ++y) {
#pragma unroll 1
        for (int x = 0; x < width_[0]; x += kLanes) look_at<1>(x, y, z);
      }
    }
  }
  /// Finds the listed ones' distances, and writes the stack or leaves it to the second launch.
  __device__ __forceinline__ void write(const PatchWindow& window, std::int64_t reference) {
    const PatchArguments& match = screen_.match;
    const bool has_all = list_.has_all();
    // A sum that overflows may have a distance that does not.
    const float least = __fsub_rd(__fmul_rd(fminf(list_.last_sum(), FLT_MAX), screen_.part), screen_.underflow);
    const bool may_be_equal = !has_all && list_.last_sum() == 0;
    const Sum unkept = first_unkept_sum<Sum>(match);
    Sum farthest = 0;
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
      const Sum found = distance(candidates_ + z * screen_.plane + y * screen_.row + x);
      if (farthest < found) farthest = found;
      if (found < unkept) keys.insert(found, in_window);
    }
    // Where all that are listed equal the reference, those that are not have higher numbers.
    const bool are_equal = may_be_equal && farthest == 0;
    if (has_all || are_equal || is_beyond(least, keys.limit_of(match, static_cast<int>(match.max_patches)))) {
      keys.write(match, window, reference);
    } else {
      match.counts[reference] = -1;
    }
  }

 private:
  /// Is nothing that is as far as `least` among what is nearer than the limit? A distance at the limit itself may tie.
  [[nodiscard]] static __device__ __forceinline__ bool is_beyond(float least, Sum limit) {
    if constexpr (std::is_same_v<Sum, float>) {
      return limit < least;
    } else {
      return __ull2float_ru(limit) < least;
    }
  }
  template <int kRows>
  __device__ __forceinline__ void look_at(int x, int y, int z) {
    float sums[kRows][kLanes];
    add_up(candidates_ + z * screen_.plane + y * screen_.row + x, sums);
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
  /// As it is defined.
  [[nodiscard]] __device__ __forceinline__ Sum distance(const float* candidate) const {
    const float* own = own_;
    Sum planes = 0;
#pragma unroll 1
    for (int z = 0; z < patch(2); ++z, own += screen_.plane, candidate += screen_.plane) {
      Sum rows = 0;
#pragma unroll 1
      for (int y = 0; y < patch(1); ++y) {
        Sum row = 0;
#pragma unroll 4
        for (int x = 0; x < patch(0); ++x) {
          row = Types::add(row, square(own[y * screen_.row + x], candidate[y * screen_.row + x]));
        }
        rows = Types::add(rows, row);
      }
      planes = Types::add(planes, rows);
    }
    return planes;
  }
  [[nodiscard]] static __device__ __forceinline__ Sum square(float a, float b) {
    if constexpr (std::is_same_v<Sum, float>) {
      return Types::square(a, b);
    } else {
      const std::uint32_t apart = __float2uint_rn(fabsf(a - b));  // whole numbers of 16 bits: exact
      return static_cast<Sum>(apart * apart);
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
  ScreenList<kPlaces + kPatchScreenSpare> list_;
};

template <class Types, int kPatch, int kLanes, int kPlaces>
__device__ __forceinline__ void screen(const PatchScreenArguments& screen) {
  extern __shared__ __align__(16) float shared[];
  const PatchArguments& match = screen.match;
  const int voxels = screen.plane * screen.region[2];
  const ScreenRegion<Types> region(screen, shared);
  region.load();
  __syncthreads();
  std::int64_t number[3];
  int at[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    number[axis] = region.number(axis);
    if (number[axis] >= match.references[axis]) return;
    at[axis] = region.from_first(axis, region.place(axis, number[axis]));
  }
  const std::int64_t reference = (number[2] * match.references[1] + number[1]) * match.references[0] + number[0];
  const PatchWindow window(match, reference);
  ScreenThread<Types, kPatch, kLanes, kPlaces> thread(
      screen, window, region.at(at[0], at[1], at[2]),
      shared + voxels + threadIdx.x / 32 * (32 * kLanes) + threadIdx.x % 32);
  thread.look();
  thread.write(window, reference);
}

}  // namespace

}  // namespace tessera::cuda

#define TESSERA_PATCH_SCREEN(Types, name, patch, lanes, places)                                  \
  extern "C" __global__ void __launch_bounds__(32 * tessera::cuda::screen_most_warps(places), 1) \
      tessera_patch_match_screen_##name##_##patch##_##lanes##_##places(                          \
          const __grid_constant__ tessera::cuda::PatchScreenArguments arguments) {               \
    tessera::cuda::screen<Types, patch, lanes, places>(arguments);                               \
  }
#define TESSERA_PATCH_SCREEN_PLACES(Types, name, patch, lanes) \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 16)          \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 32)          \
  TESSERA_PATCH_SCREEN(Types, name, patch, lanes, 64)
#define TESSERA_PATCH_SCREEN_OF(Types, name)      \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 0, 8)  \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 0, 11) \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 4, 8)  \
  TESSERA_PATCH_SCREEN_PLACES(Types, name, 4, 11)
TESSERA_PATCH_SCREEN_OF(tessera::cuda::PatchUint16, uint16)
TESSERA_PATCH_SCREEN_OF(tessera::cuda::PatchFloat32, float32)
