// The inner part of "box_sums": all references of a tile against their candidates at one offset, in the best
// instruction set that the processor has.
#pragma once

#include <cstdint>

#include "ops/patch_match/patch_match_keys.h"

namespace tessera::cpu_tbb {

/// A tile of references, and the voxels that they and their candidates stand on, in the type of the sums: float or
/// double, in which sums of integers that are small enough are exact. Positions are counted from the tile's first.
template <class Sum>
struct BoxTile {
  const Sum* voxels = nullptr;  ///< the first voxel of the tile's first reference; 16 may be read behind a line's end
  std::int64_t row = 0;         ///< numbers from one row of `voxels` to the next
  std::int64_t plane = 0;       ///< and from one plane to the next
  PerAxis patch;
  PerAxis references;               ///< of the tile; along x counted in places, one voxel apart
  const std::int64_t* y = nullptr;  ///< where each row of references stands
  const std::int64_t* z = nullptr;  ///< and each plane
  std::int64_t line = 0;            ///< numbers of a line of sums: the places, the patch and two vectors more
  std::int64_t rows = 0;            ///< of voxels that references of one plane reach
  Sum* limits = nullptr;            ///< line after line of references: what is nearer is kept; 0 where there is none
  PatchKeys* keys = nullptr;        ///< of each place, line after line of references.x
  Sum* memory = nullptr;            ///< (1 + rows + references.y * planes that the references reach) lines

  [[nodiscard]] std::int64_t line_of(std::int64_t row_number, std::int64_t plane_number) const noexcept {
    return plane_number * references.y + row_number;
  }
};

/// Candidates that stand alike to their references, which are those from `first` up to `end`.
struct BoxOffset {
  std::int64_t shift = 0;    ///< from a reference's voxel to the candidate's
  std::uint64_t number = 0;  ///< of the candidate in its window
  PerAxis first;
  PerAxis end;
};

/// For a volume of floats, whose sums are float.
void add_offset(const BoxTile<float>& tile, const BoxOffset& offset);
/// For a volume of integers whose sums are exact in that type.
void add_integer_offset(const BoxTile<float>& tile, const BoxOffset& offset);
void add_integer_offset(const BoxTile<double>& tile, const BoxOffset& offset);

}  // namespace tessera::cpu_tbb
