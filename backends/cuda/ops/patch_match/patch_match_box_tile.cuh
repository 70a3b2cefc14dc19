// patch_match, box_sums: a group's tile of references, and their stacks before the first offset and after the last.
//
//   line 0   | p p p p | p p p p |     Along x a tile has places, one voxel apart, of which some may hold no reference;
//   line 1   | p p p p | p p p p |     along y and z it has references: a line of places for each pair of them. A
//   ...       thread 0  thread 1       thread owns kPatchBoxRun places of a line, and of every kPatchBoxLines-th line.
#pragma once

#include "ops/patch_match/patch_match_box_arguments.h"
#include "ops/patch_match/patch_match_keys.cuh"

namespace tessera::cuda {

class PatchTile {
 public:
  __device__ explicit PatchTile(const PatchTileArguments& box) : match_(box.match), columns_(box.columns) {
    const std::int64_t line_number = blockIdx.x / box.tiles[0];
    const std::int64_t plane = line_number / box.tiles[1];
    place_[0] = place_of(0, 0) + (blockIdx.x - line_number * box.tiles[0]) * box.columns;
    number_[0] = 0;
    number_[1] = (line_number - plane * box.tiles[1]) * box.most_y;
    number_[2] = plane * box.most_z;
    place_[1] = place_of(1, number_[1]);
    place_[2] = place_of(2, number_[2]);
    references_[0] = least(box.columns, place_of(0, match_.references[0] - 1) - place_[0] + 1);
    references_[1] = least(box.most_y, match_.references[1] - number_[1]);
    references_[2] = least(box.most_z, match_.references[2] - number_[2]);
    rows_ = row_of_reference(1, references_[1] - 1) + static_cast<int>(match_.patch[1]);
    planes_ = row_of_reference(2, references_[2] - 1) + static_cast<int>(match_.patch[2]);
  }

  /// The thread's first line, and the first of its places in it.
  [[nodiscard]] __device__ __forceinline__ int line() const {
    return static_cast<int>(threadIdx.x) / kPatchBoxLineThreads;
  }
  [[nodiscard]] __device__ __forceinline__ int column() const {
    return static_cast<int>(threadIdx.x) % kPatchBoxLineThreads * kPatchBoxRun;
  }
  /// Along x: places.
  [[nodiscard]] __device__ __forceinline__ int references(int axis) const { return references_[axis]; }
  [[nodiscard]] __device__ __forceinline__ int lines() const { return references_[1] * references_[2]; }
  /// Of voxels that the references reach.
  [[nodiscard]] __device__ __forceinline__ int rows() const { return rows_; }
  [[nodiscard]] __device__ __forceinline__ int planes() const { return planes_; }
  /// Of the first reference.
  [[nodiscard]] __device__ __forceinline__ std::int64_t place(int axis) const { return place_[axis]; }
  /// Where a reference stands along y or z, from the first.
  [[nodiscard]] __device__ __forceinline__ int row_of_reference(int axis, int number) const {
    return static_cast<int>(place_of(axis, number_[axis] + number) - place_[axis]);
  }
  /// Is there a candidate at this offset for any reference of the tile?
  [[nodiscard]] __device__ __forceinline__ bool is_in_reach(const std::int64_t (&offset)[3]) const {
    const std::int64_t reach[3] = {references_[0] - 1, rows_ - match_.patch[1], planes_ - match_.patch[2]};
    bool reaches = true;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t first = place_[axis] + offset[axis];
      reaches = reaches && first + reach[axis] >= 0 && first < match_.places[axis];
    }
    return reaches;
  }
  /// The reference at a place of a line; -1: there is none.
  [[nodiscard]] __device__ __forceinline__ std::int64_t reference(int x, int y, int z) const {
    if (x >= references_[0]) return -1;
    const std::int64_t place = place_[0] + x;
    std::int64_t number = match_.references[0] - 1;
    if (place != place_of(0, number)) {
      number = (place - match_.start[0]) / match_.step[0];
      if (match_.start[0] + number * match_.step[0] != place) return -1;
    }
    return ((number_[2] + z) * match_.references[1] + number_[1] + y) * match_.references[0] + number;
  }

  /// Where there is no reference, nothing is below the limit.
  template <class Types>
  __device__ __forceinline__ void empty_stacks(typename Types::Sum* limits) const {
    const typename Types::Sum unkept = first_unkept_sum<typename Types::Sum>(match_);
    for_each_place([&](int x, int y, int z, int at) {
      const std::int64_t number = reference(x, y, z);
      limits[at] = number < 0 ? 0 : unkept;
      if (number >= 0) match_.counts[number] = 0;
    });
  }
  /// Puts a candidate among the sorted keys of a reference, nearer than the last where all places are taken. Returns
  /// the limit from then on.
  template <class Types>
  __device__ __forceinline__ typename Types::Sum insert(std::int64_t reference, typename Types::Sum distance,
                                                        std::int64_t number, typename Types::Sum limit) const {
    const int places = static_cast<int>(match_.max_patches);
    auto* const keys = reinterpret_cast<std::uint64_t*>(match_.indices) + reference * places;
    const std::uint64_t key = patch_distance_bits(distance) << match_.number_bits | static_cast<std::uint64_t>(number);
    const int count = match_.counts[reference];
    int place = count < places ? count : places - 1;
    for (; place > 0 && key < keys[place - 1]; --place) keys[place] = keys[place - 1];
    keys[place] = key;
    if (count < places) match_.counts[reference] = count + 1;
    if (count < places - 1) return limit;
    return patch_distance_of_bits<typename Types::Sum>(keys[places - 1] >> match_.number_bits);
  }
  /// Keys become distances and indices.
  template <class Types>
  __device__ __forceinline__ void write_stacks() const {
    for_each_place([&](int x, int y, int z, int) {
      const std::int64_t number = reference(x, y, z);
      if (number < 0) return;
      const std::int64_t first[3] = {place_[0] + x - match_.window[0] / 2,
                                     place_of(1, number_[1] + y) - match_.window[1] / 2,
                                     place_of(2, number_[2] + z) - match_.window[2] / 2};
      for (int place = 0; place < match_.max_patches; ++place) {
        write<Types>(number * match_.max_patches + place, place < match_.counts[number], first);
      }
    });
  }

 private:
  static __device__ __forceinline__ int least(int a, std::int64_t b) {
    return b < a ? static_cast<int>(b) : a;
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t place_of(int axis, std::int64_t reference) const {
    const std::int64_t place = match_.start[axis] + reference * match_.step[axis];
    return place < match_.last_place[axis] ? place : match_.last_place[axis];
  }
  template <class Visit>
  __device__ __forceinline__ void for_each_place(const Visit& visit) const {
#pragma unroll 1
    for (int at = line(); at < lines(); at += kPatchBoxLines) {
      const int z = at / references_[1];
#pragma unroll 1
      for (int x = column(); x < columns_; x += kPatchBoxLineThreads * kPatchBoxRun) {
#pragma unroll 1
        for (int i = x; i < x + kPatchBoxRun; ++i) visit(i, at - z * references_[1], z, at * columns_ + i);
      }
    }
  }
  template <class Types>
  __device__ __forceinline__ void write(std::int64_t at, bool is_kept, const std::int64_t (&first)[3]) const {
    auto& key = reinterpret_cast<std::uint64_t*>(match_.indices)[at];
    if (!is_kept) {
      Types::distances(match_)[at] = Types::empty();
      key = ~std::uint64_t{0};
      return;
    }
    const auto number = static_cast<std::int64_t>(key & ((std::uint64_t{1} << match_.number_bits) - 1));
    const std::int64_t row = number / match_.window[0];
    const std::int64_t plane = row / match_.window[1];
    const std::int64_t x = first[0] + number - row * match_.window[0];
    const std::int64_t y = first[1] + row - plane * match_.window[1];
    const auto distance = patch_distance_of_bits<typename Types::Sum>(key >> match_.number_bits);
    Types::distances(match_)[at] = static_cast<typename Types::Stored>(distance);
    key =
        static_cast<std::uint64_t>(match_.first_voxel + ((first[2] + plane) * match_.size[1] + y) * match_.size[0] + x);
  }

  const PatchArguments& match_;
  int columns_;
  std::int64_t place_[3];
  std::int64_t number_[3];  // of the first reference
  int references_[3];
  int rows_;
  int planes_;
};

}  // namespace tessera::cuda
