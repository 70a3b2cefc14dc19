// The memory in which "packed_key" holds the rows under a window as words, and the reference's own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mathematics/division.h"
#include "ops/patch_match/patch_match_packed_kernel.h"

namespace tessera::cpu_tbb {

struct PackedLayout {
  /// Lanes of the widest vectors that are used, whatever instruction set runs.
  static constexpr std::int64_t kMostLanes = 16;

  /// `in_word` voxels of a patch's row share a word.
  PackedLayout(const PerAxis& candidates, const PerAxis& voxels, std::int64_t in_word) noexcept
      : patch(voxels),
        length(mathematics::round_up(mathematics::round_up(candidates.x, kMostLanes) + voxels.x, kMostLanes)),
        rows(candidates.y + voxels.y - 1),
        part(length * rows * (candidates.z + voxels.z - 1)),
        words(mathematics::ceil_div(voxels.x, in_word)),
        reference_part(words * voxels.y * voxels.z) {}

  [[nodiscard]] std::int64_t row(std::int64_t y, std::int64_t z) const noexcept { return (z * rows + y) * length; }

  PerAxis patch;
  std::int64_t length;          ///< words of a row: as many as the last vector reads
  std::int64_t rows;            ///< of a plane
  std::int64_t part;            ///< words of all rows; behind them, those of the high bytes
  std::int64_t words;           ///< of a row of the reference
  std::int64_t reference_part;  ///< words of the reference; behind them, those of its high bytes
};

/// Calls `pack(from, words)` for each row under the window. It may read a whole row's length and a voxel more: where
/// the volume ends before that, the row is copied first.
template <class T, class Pack>
void pack_rows(const PackedReference<T>& r, const PackedLayout& layout, std::int32_t* words, const Pack& pack) {
  auto* const copy = reinterpret_cast<T*>(words + 2 * layout.part + 2 * layout.reference_part);
  const std::int64_t voxels = r.candidates.x + r.patch.x - 1;
  for (std::int64_t z = 0; z < r.candidates.z + r.patch.z - 1; ++z) {
    for (std::int64_t y = 0; y < layout.rows; ++y) {
      const T* from = r.first + z * r.plane + y * r.row;
      if (r.volume_end - from < layout.length + 1) {
        std::fill(std::copy_n(from, voxels, copy), copy + layout.length + 1, T(0));
        from = copy;
      }
      pack(from, words + layout.row(y, z));
    }
  }
}

/// The reference's own words; where its row ends in one, the rest of it is 0.
template <class T>
void pack_reference(const PackedReference<T>& r, const PackedLayout& layout, std::int64_t in_word,
                    std::int32_t* words) {
  for (std::int64_t row = 0; row < r.patch.y * r.patch.z; ++row) {
    const T* const voxels = r.reference + row / r.patch.y * r.plane + row % r.patch.y * r.row;
    for (std::int64_t w = 0; w < layout.words; ++w, ++words) {
      if constexpr (std::is_same_v<T, float>) {
        *words = std::bit_cast<std::int32_t>(voxels[w]);
      } else {
        const std::int64_t first = w * in_word;
        const std::int32_t a = voxels[first];
        const std::int32_t b = in_word == 2 && first + 1 < r.patch.x ? voxels[first + 1] : 0;
        *words = (a & 0xff) | (b & 0xff) << 16;
        if constexpr (std::is_same_v<T, std::uint16_t>) words[layout.reference_part] = a >> 8 | b >> 8 << 16;
      }
    }
  }
}

/// What all of that takes, in double, because a window may be as large as any volume.
[[nodiscard]] inline double packed_bytes(const PerAxis& candidates, const PerAxis& patch) noexcept {
  constexpr double kVoxelBytes = 4;
  const double length = static_cast<double>(candidates.x) + static_cast<double>(patch.x) + 32;
  const double rows = static_cast<double>(candidates.y) + static_cast<double>(patch.y);
  const double planes = static_cast<double>(candidates.z) + static_cast<double>(patch.z);
  return kVoxelBytes * (2 * length * rows * planes + 2 * static_cast<double>(patch.product()) + length + 1);
}

}  // namespace tessera::cpu_tbb
