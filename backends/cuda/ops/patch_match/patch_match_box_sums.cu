// patch_match, box_sums: one group a tile of references, which look at one offset of the window after the other.
//
//     differences squared,        shared: rows          shared: planes       distances
//     summed along x              +-----------+         +-----------+        +------+
//     +---------------+           | rows of   |  sums   | rows of   |  sums  | line |  -> those below the limit of
//     | kRun places   |   ---->   | all       |  ---->  | references|  ----> |      |     their reference go into its
//     +---------------+           | planes    | along y | all planes| along z+------+     keys
//                                 +-----------+         +-----------+
//
// Neighbours share their sums along x, and what is summed along y. Each sum has its terms in the order of the
// definition, so that floats get the same bits. Voxels come through the first-level cache. The keys of a reference
// stand where its indices will, sorted, and how many in its count: no other thread reads or writes them. Bytes with
// patches of 4 x 4 x 4 and a window of 11 go to patch_match_box_bytes.cu.
#include "ops/patch_match/patch_match_box_tile.cuh"

namespace tessera::cuda {

namespace {

/// A thread's places: neighbours along x.
template <class Sum>
struct alignas(sizeof(Sum) * 4) Run {
  Sum sums[kPatchBoxRun];
};

/// kPatch: the patch's voxels along each axis where the loops are made for them, else 0.
template <class Types, int kPatch>
class BoxSums {
 public:
  using Voxel = typename Types::Voxel;
  using Sum = typename Types::Sum;

  __device__ BoxSums(const PatchTileArguments& box, unsigned char* shared)
      : box_(box),
        tile_(box),
        rows_(reinterpret_cast<Sum*>(shared)),
        planes_(rows_ + box.planes * box.rows * box.columns),
        limits_(planes_ + box.planes * box.most_y * box.columns) {}

  __device__ __forceinline__ void run() {
    const PatchArguments& match = box_.match;
    tile_.template empty_stacks<Types>(limits_);
    std::int64_t number = 0;
    std::int64_t offset[3];
#pragma unroll 1
    for (std::int64_t z = 0; z < match.window[2]; ++z) {
      offset[2] = z - match.window[2] / 2;
#pragma unroll 1
      for (std::int64_t y = 0; y < match.window[1]; ++y) {
        offset[1] = y - match.window[1] / 2;
#pragma unroll 1
        for (std::int64_t x = 0; x < match.window[0]; ++x, ++number) {
          offset[0] = x - match.window[0] / 2;
          if (!tile_.is_in_reach(offset)) continue;
          sum_rows(offset);
          __syncthreads();
          sum_planes();
          __syncthreads();
          offer(offset, number);
        }
      }
    }
    tile_.template write_stacks<Types>();
  }

 private:
  [[nodiscard]] __device__ __forceinline__ int patch(int axis) const {
    return kPatch > 0 ? kPatch : static_cast<int>(box_.match.patch[axis]);
  }
  __device__ __forceinline__ void sum_rows(const std::int64_t (&offset)[3]) const {
    const PatchArguments& match = box_.match;
    for (int line = tile_.line(); line < tile_.planes() * tile_.rows(); line += kPatchBoxLines) {
      const int plane = line / tile_.rows();
      const std::int64_t y = tile_.place(1) + line - plane * tile_.rows();
      const std::int64_t z = tile_.place(2) + plane;
      const std::int64_t there_y = y + offset[1];
      const std::int64_t there_z = z + offset[2];
      if (there_y < 0 || there_y >= match.size[1] || there_z < 0 || there_z >= match.size[2]) continue;
      const Voxel* const row = Types::volume(match) + (z * match.size[1] + y) * match.size[0];
      const Voxel* const candidates = Types::volume(match) + (there_z * match.size[1] + there_y) * match.size[0];
      for (int x = tile_.column(); x < tile_.references(0); x += kPatchBoxLineThreads * kPatchBoxRun) {
        store(rows_ + line * box_.columns + x, row_sums(row, candidates, tile_.place(0) + x, offset[0]));
      }
    }
  }
  /// Places whose candidates do not exist get a sum that nobody uses: voxels are taken from the row's ends.
  [[nodiscard]] __device__ __forceinline__ Run<Sum> row_sums(const Voxel* row, const Voxel* candidates, std::int64_t x,
                                                             std::int64_t offset) const {
    const auto last = box_.match.size[0] - 1;
    const auto at_end = [&](std::int64_t place) { return place < 0 ? 0 : place > last ? last : place; };
    Run<Sum> run;
    if constexpr (kPatch > 0) {
      constexpr int kVoxels = kPatchBoxRun + kPatch - 1;
      Sum squares[kVoxels];
#pragma unroll
      for (int i = 0; i < kVoxels; ++i) {
        squares[i] = Types::square(row[at_end(x + i)], candidates[at_end(x + offset + i)]);
      }
#pragma unroll
      for (int lane = 0; lane < kPatchBoxRun; ++lane) {
        run.sums[lane] = squares[lane];
#pragma unroll
        for (int i = 1; i < kPatch; ++i) run.sums[lane] = Types::add(run.sums[lane], squares[lane + i]);
      }
    } else {
#pragma unroll
      for (int lane = 0; lane < kPatchBoxRun; ++lane) {
        run.sums[lane] = 0;
        for (int i = 0; i < patch(0); ++i) {
          run.sums[lane] = Types::add(
              run.sums[lane], Types::square(row[at_end(x + lane + i)], candidates[at_end(x + lane + offset + i)]));
        }
      }
    }
    return run;
  }
  static __device__ __forceinline__ void store(Sum* to, const Run<Sum>& run) {
    *reinterpret_cast<Run<Sum>*>(to) = run;
  }
  /// So many lines, `apart` one from the next.
  [[nodiscard]] static __device__ __forceinline__ Run<Sum> sum_lines(const Sum* from, int count, int apart) {
    Run<Sum> run = *reinterpret_cast<const Run<Sum>*>(from);
#pragma unroll
    for (int i = 1; i < (kPatch > 0 ? kPatch : count); ++i) {
      const Run<Sum> next = *reinterpret_cast<const Run<Sum>*>(from + i * apart);
#pragma unroll
      for (int lane = 0; lane < kPatchBoxRun; ++lane) run.sums[lane] = Types::add(run.sums[lane], next.sums[lane]);
    }
    return run;
  }
  __device__ __forceinline__ void sum_planes() const {
    for (int line = tile_.line(); line < tile_.planes() * tile_.references(1); line += kPatchBoxLines) {
      const int plane = line / tile_.references(1);
      const int row = plane * tile_.rows() + tile_.row_of_reference(1, line - plane * tile_.references(1));
      for (int x = tile_.column(); x < tile_.references(0); x += kPatchBoxLineThreads * kPatchBoxRun) {
        store(planes_ + line * box_.columns + x, sum_lines(rows_ + row * box_.columns + x, patch(1), box_.columns));
      }
    }
  }
  /// Offers the candidates of this number to the tile's references, where they exist.
  __device__ __forceinline__ void offer(const std::int64_t (&offset)[3], std::int64_t number) const {
    const PatchArguments& match = box_.match;
    for (int line = tile_.line(); line < tile_.lines(); line += kPatchBoxLines) {
      const int z = line / tile_.references(1);
      const int y = line - z * tile_.references(1);
      const int plane = tile_.row_of_reference(2, z);
      const std::int64_t there_z = tile_.place(2) + plane + offset[2];
      const std::int64_t there_y = tile_.place(1) + tile_.row_of_reference(1, y) + offset[1];
      if (there_z < 0 || there_z >= match.places[2] || there_y < 0 || there_y >= match.places[1]) continue;
      const Sum* const from = planes_ + (plane * tile_.references(1) + y) * box_.columns;
      for (int x = tile_.column(); x < tile_.references(0); x += kPatchBoxLineThreads * kPatchBoxRun) {
        const Run<Sum> found = sum_lines(from + x, patch(2), tile_.references(1) * box_.columns);
        Sum* const limits = limits_ + line * box_.columns + x;
        const Run<Sum> limit = *reinterpret_cast<const Run<Sum>*>(limits);
#pragma unroll
        for (int i = 0; i < kPatchBoxRun; ++i) {
          const std::int64_t there_x = tile_.place(0) + x + i + offset[0];
          if (!(found.sums[i] < limit.sums[i]) || there_x < 0 || there_x >= match.places[0]) continue;
          limits[i] = tile_.template insert<Types>(tile_.reference(x + i, y, z), found.sums[i], number, limit.sums[i]);
        }
      }
    }
  }

  const PatchTileArguments& box_;
  PatchTile tile_;
  Sum* rows_;
  Sum* planes_;
  Sum* limits_;
};

}  // namespace

}  // namespace tessera::cuda

#define TESSERA_PATCH_BOX(Types, name, patch)                                                                        \
  extern "C" __global__ void __launch_bounds__(tessera::cuda::kPatchBoxThreads)                                      \
      tessera_patch_match_box_sums_##name##_##patch(const __grid_constant__ tessera::cuda::PatchTileArguments box) { \
    extern __shared__ __align__(32) unsigned char shared[];                                                          \
    tessera::cuda::BoxSums<Types, patch>(box, shared).run();                                                         \
  }
#define TESSERA_PATCH_BOX_OF(Types, name) \
  TESSERA_PATCH_BOX(Types, name, 0)       \
  TESSERA_PATCH_BOX(Types, name, 4)

TESSERA_PATCH_TYPES(TESSERA_PATCH_BOX_OF)
