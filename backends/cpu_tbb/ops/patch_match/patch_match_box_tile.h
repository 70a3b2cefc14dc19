// A tile of "box_sums": which references it has, the memory that it takes, and the way of voxels in and stacks out.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu_tbb_scratch.h"
#include "ops/patch_match/patch_match_box_kernel.h"

namespace tessera::cpu_tbb {

/// Are sums of the problem's integers exact in float?
[[nodiscard]] bool sums_are_float(const PatchMatch& problem) noexcept;

/// References of a tile along each axis, from `first` up to `end`.
struct BoxPart {
  PerAxis first;
  PerAxis end;
};

/// How references are cut into tiles.
struct BoxTiles {
  explicit BoxTiles(const PatchMatch& problem) noexcept;
  [[nodiscard]] BoxPart part(std::int64_t tile) const noexcept;

  PerAxis references;
  PerAxis most;   ///< of one tile
  PerAxis count;  ///< of tiles
};

/// What a tile takes at most.
[[nodiscard]] double box_tile_bytes(const PatchMatch& problem) noexcept;

/// One thread's tile of a volume of T.
template <class T, class Sum>
class BoxTileMemory {
 public:
  BoxTileMemory(ScratchPool& pool, const PatchOperands<T>& match);
  /// Converts the voxels and empties the stacks.
  void load(const BoxPart& part) noexcept;
  /// Every offset of the window, in the order of candidates.
  void match() noexcept;
  /// Writes the stacks.
  void write() const noexcept;

 private:
  void load_voxels() noexcept;

  const PatchOperands<T>& match_;
  ScratchPool::Loan loan_;
  BoxPart part_;
  PerAxis place_;        // of the first reference, in the volume
  PerAxis first_voxel_;  // of those that are loaded
  PerAxis voxel_count_;
  BoxTile<Sum> tile_;
  Sum* voxels_ = nullptr;
  std::int64_t* y_ = nullptr;
  std::int64_t* z_ = nullptr;
  std::uint64_t* keys_ = nullptr;
};

extern template class BoxTileMemory<std::uint8_t, float>;
extern template class BoxTileMemory<std::uint8_t, double>;
extern template class BoxTileMemory<std::uint16_t, float>;
extern template class BoxTileMemory<std::uint16_t, double>;
extern template class BoxTileMemory<float, float>;

}  // namespace tessera::cpu_tbb
