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
  int first_slot;  ///< the first slice's place in the ring of sums, and in that of voxels
  int first_voxel_slot;

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
    first_slot = first_slice % c.ring;
    first_voxel_slot = first_slice % c.voxel_ring;
  }
};

/// Goes through rows of a region, slice after slice.
struct ColumnRows {
  int y;
  int z;     ///< slices from the first one on
  int slot;  ///< of the slice, in the ring

  __device__ __forceinline__ ColumnRows(int first_slot, int extent, int ring) : y(0), z(0), slot(first_slot) {
    advance(static_cast<int>(threadIdx.x) / 32, extent, ring);
  }
  __device__ __forceinline__ void advance(int rows, int extent, int ring) {
    y += rows;
    while (y >= extent) {
      y -= extent;
      ++z;
      slot = slot + 1 == ring ? 0 : slot + 1;
    }
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
    const unsigned voxel_slot = layer.first_voxel_slot + z;
    const unsigned slot = layer.first_slot + z;
    voxel = static_cast<int>(min(voxel_slot, voxel_slot - c.voxel_ring) * c.slice + in_slice);
    sum = 4 * (min(slot, slot - c.ring) * c.slice + in_slice);
  }

  __device__ __forceinline__ void clear() const {
    for (unsigned i = 4 * threadIdx.x; i < 3 * bytes; i += 4 * blockDim.x) *column_sum(i) = 0;
  }

  /// Voxels of slices [first, end); of those of a volume that are not finite the basic estimate's.
  __device__ __forceinline__ void load(const ColumnLayer& layer, int first, int end, bool is_wiener) const {
    constexpr int kTogether = 8;  // rows on their way at a time
    const auto size_x = static_cast<unsigned>(c.step.size[0]);
    const auto size_y = static_cast<unsigned>(c.step.size[1]);
    const std::int64_t from = (first * c.step.size[1] + layer.first[1]) * c.step.size[0] + layer.first[0];
    const T* const volume = static_cast<const T*>(c.step.volume) + from;
    const T* const estimate = static_cast<const T*>(c.step.basic) + from;
    for (int x = static_cast<int>(threadIdx.x) % 32; x < layer.extent[0]; x += 32) {
      ColumnRows rows(first % c.voxel_ring, layer.extent[1], c.voxel_ring);
      while (rows.z < end - first) {
        T found[kTogether];
        T instead[kTogether];
        int to[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          to[i] = rows.z < end - first ? rows.slot * c.slice + rows.y * c.row + x : -1;
          const unsigned at = (rows.z * size_y + rows.y) * size_x + x;
          if (to[i] >= 0) found[i] = volume[at];
          if (is_wiener && to[i] >= 0) instead[i] = estimate[at];
          rows.advance(static_cast<int>(blockDim.x) / 32, layer.extent[1], c.voxel_ring);
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          if (to[i] < 0) continue;
          if constexpr (std::is_same_v<T, float>) {
            if (is_wiener && !is_finite(found[i])) found[i] = instead[i];
          }
          voxels[to[i]] = found[i];
          if (is_wiener) basic[to[i]] = instead[i];
        }
      }
    }
  }

  /// Sums of slices [first, end), which are 0 then.
  __device__ __forceinline__ void hand_on(const ColumnLayer& layer, int first, int end) const {
    constexpr int kTogether = 4;
    const DenoiseArguments& d = c.step;
    std::uint64_t* const sums = d.sums + 2 * layer.first[0];
    for (int x = static_cast<int>(threadIdx.x) % 32; x < layer.extent[0]; x += 32) {
      ColumnRows rows(first % c.ring, layer.extent[1], c.ring);
      while (rows.z < end - first) {
        unsigned at[kTogether];
        std::uint64_t* to[kTogether];
        std::uint32_t numbers[kTogether][3];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          at[i] = 4 * (rows.slot * c.slice + rows.y * c.row + x);
          const bool is_there = rows.z < end - first;
#pragma unroll
          for (int part = 0; part < 3; ++part) numbers[i][part] = is_there ? *column_sum(at[i] + part * bytes) : 0;
          to[i] = sums + 2 * (held_row(d, layer.first[1] + rows.y, first + rows.z) * d.held[0] + x);
          rows.advance(static_cast<int>(blockDim.x) / 32, layer.extent[1], c.ring);
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          if (numbers[i][2] == 0) continue;
          add_to_sum(to[i],
                     static_cast<std::int64_t>((static_cast<std::uint64_t>(numbers[i][1]) << 32) + numbers[i][0]));
          add_to_sum(to[i] + 1, numbers[i][2]);
#pragma unroll
          for (int part = 0; part < 3; ++part) *column_sum(at[i] + part * bytes) = 0;
        }
      }
    }
  }

 private:
  /// Where a row stands among those that are held.
  [[nodiscard]] static __device__ __forceinline__ std::int64_t held_row(const DenoiseArguments& d, int y, int z) {
    if (d.axis == 2) return in_ring(d, z) * d.held[1] + y;
    return z * d.held[1] + in_ring(d, y);
  }
};

}  // namespace tessera::cuda
