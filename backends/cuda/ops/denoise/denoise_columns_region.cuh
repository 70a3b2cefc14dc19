// denoise, columns: the part of the volume that a layer of references reaches, in shared memory: voxels, and sums that
// are handed on to those in the card's memory. See denoise_columns.cu.
#pragma once

#include "ops/denoise/denoise_columns_arguments.h"
#include "ops/denoise/denoise_volume.cuh"

namespace tessera::cuda {

/// References of one z of a column, and where their windows lie.
struct ColumnLayer {
  int x;  ///< the column's first reference, counted in the round
  int y;
  int z;
  int end_of_column;  ///< along z
  int references[2];  ///< of the column, along x and y
  int first[2];       ///< voxel that the column's windows reach
  int extent[2];
  int first_slice;
  int end_slice;

  __device__ __forceinline__ explicit ColumnLayer(const DenoiseColumnArguments& c) {
    const int number = static_cast<int>(blockIdx.x);
    const int row = number / c.columns[0];
    const int part = row / c.columns[1];
    x = (number - row * c.columns[0]) * c.tile[0];
    y = (row - part * c.columns[1]) * c.tile[1];
    z = part * c.layers;
    end_of_column = min(z + c.layers, c.references[2]);
    references[0] = min(c.tile[0], c.references[0] - x);
    references[1] = min(c.tile[1], c.references[1] - y);
    const int begin[2] = {x, y};
    for (int axis = 0; axis < 2; ++axis) {
      first[axis] = first_voxel(c, axis, begin[axis]);
      extent[axis] = end_of_voxels(c, axis, begin[axis] + references[axis] - 1) - first[axis];
    }
    set_slices(c);
  }

  [[nodiscard]] __device__ __forceinline__ bool is_last() const { return z + 1 == end_of_column; }
  [[nodiscard]] __device__ __forceinline__ ColumnLayer next(const DenoiseColumnArguments& c) const {
    ColumnLayer layer = *this;
    ++layer.z;
    layer.set_slices(c);
    return layer;
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ int place(const DenoiseColumnArguments& c, int axis, int reference) {
    return min((c.first[axis] + reference) * c.apart[axis], c.places[axis] - 1);
  }
  [[nodiscard]] static __device__ __forceinline__ int first_voxel(const DenoiseColumnArguments& c, int axis,
                                                                  int reference) {
    return max(place(c, axis, reference) - c.window[axis] / 2, 0);
  }
  [[nodiscard]] static __device__ __forceinline__ int end_of_voxels(const DenoiseColumnArguments& c, int axis,
                                                                    int reference) {
    const int end = place(c, axis, reference) - c.window[axis] / 2 + c.window[axis];
    return min(end, c.places[axis]) - 1 + static_cast<int>(c.step.patch[axis]);
  }
  __device__ __forceinline__ void set_slices(const DenoiseColumnArguments& c) {
    first_slice = first_voxel(c, 2, z);
    end_slice = end_of_voxels(c, 2, z);
  }
};

/// Sums of so many bytes into shared memory.
[[nodiscard]] __device__ __forceinline__ std::uint32_t* column_sum(unsigned byte) {
  extern __shared__ __align__(16) char shared[];
  return reinterpret_cast<std::uint32_t*>(shared + byte);
}

/// Slices stand in rings, slice i at place i modulo the ring's length.
template <class T>
struct ColumnRegion {
  const DenoiseColumnArguments& c;
  unsigned bytes;  ///< of an array of sums: halves of the weighted estimates, the lower ones first, and weights
  float* rows;     ///< of the warps
  T* voxels;
  T* basic;

  __device__ __forceinline__ ColumnRegion(const DenoiseColumnArguments& arguments, bool is_wiener)
      : c(arguments), bytes(4 * c.ring * c.slice) {
    rows = reinterpret_cast<float*>(column_sum(3 * bytes));
    voxels = reinterpret_cast<T*>(rows + static_cast<int>(blockDim.x) * kColumnPitch);
    basic = is_wiener ? voxels + c.voxel_ring * c.slice + 4 / sizeof(T) : voxels;
  }

  /// Of a patch of the volume: where it stands among the layer's voxels and, in bytes, its sums.
  __device__ __forceinline__ void find(unsigned index, const ColumnLayer& layer, int& voxel, unsigned& sum) const {
    const auto size_x = static_cast<unsigned>(c.step.size[0]);
    const auto size_y = static_cast<unsigned>(c.step.size[1]);
    // Of neighbours the lower halves of their indices tell how far they are apart.
    const unsigned first =
        (static_cast<unsigned>(layer.first_slice) * size_y + layer.first[1]) * size_x + layer.first[0];
    const unsigned apart = index - first;
    const unsigned row = apart / size_x;
    const unsigned z = row / size_y;
    const unsigned in_slice = (row - z * size_y) * c.row + (apart - row * size_x);
    const unsigned slice = layer.first_slice + z;
    voxel = static_cast<int>(slice % c.voxel_ring * c.slice + in_slice);
    sum = 4 * (slice % c.ring * c.slice + in_slice);
  }

  __device__ __forceinline__ void clear() const {
    for (unsigned i = 4 * threadIdx.x; i < 3 * bytes; i += 4 * blockDim.x) *column_sum(i) = 0;
  }

  /// Voxels of slices [first, end); of those of a volume that are not finite the basic estimate's.
  __device__ __forceinline__ void load(const ColumnLayer& layer, int first, int end, bool is_wiener) const {
    const auto* const volume = static_cast<const T*>(c.step.volume);
    const auto* const estimate = static_cast<const T*>(c.step.basic);
    const auto warp = static_cast<int>(threadIdx.x) / 32;
    const auto lane = static_cast<int>(threadIdx.x) % 32;
    for (int z = first; z < end; ++z) {
      const int slot = z % c.voxel_ring * c.slice;
#pragma unroll 2
      for (int y = warp; y < layer.extent[1]; y += static_cast<int>(blockDim.x) / 32) {
        const std::int64_t row = (z * c.step.size[1] + layer.first[1] + y) * c.step.size[0] + layer.first[0];
        const int to = slot + y * c.row;
        for (int x = lane; x < layer.extent[0]; x += 32) {
          T voxel = volume[row + x];
          if (is_wiener) {
            const T instead = estimate[row + x];
            if constexpr (std::is_same_v<T, float>) voxel = is_finite(voxel) ? voxel : instead;
            basic[to + x] = instead;
          }
          voxels[to + x] = voxel;
        }
      }
    }
  }

  /// Sums of slices [first, end), which are 0 then.
  __device__ __forceinline__ void hand_on(const ColumnLayer& layer, int first, int end) const {
    const auto warp = static_cast<int>(threadIdx.x) / 32;
    const auto lane = static_cast<int>(threadIdx.x) % 32;
    for (int z = first; z < end; ++z) {
      const int slot = z % c.ring * c.slice;
#pragma unroll 2
      for (int y = warp; y < layer.extent[1]; y += static_cast<int>(blockDim.x) / 32) {
        std::uint64_t* const sums = c.step.sums + 2 * held_index(c.step, {layer.first[0], layer.first[1] + y, z});
        const unsigned from = 4 * (slot + y * c.row);
        for (int x = lane; x < layer.extent[0]; x += 32) hand_on_voxel(from + 4 * x, sums + 2 * x);
      }
    }
  }

 private:
  __device__ __forceinline__ void hand_on_voxel(unsigned at, std::uint64_t* sums) const {
    const std::uint32_t weight = *column_sum(at + 2 * bytes);
    if (weight == 0) return;
    const auto high = static_cast<std::uint64_t>(*column_sum(at + bytes));
    add_to_sum(sums, static_cast<std::int64_t>((high << 32) + *column_sum(at)));
    add_to_sum(sums + 1, weight);
    *column_sum(at) = 0;
    *column_sum(at + bytes) = 0;
    *column_sum(at + 2 * bytes) = 0;
  }
};

}  // namespace tessera::cuda
