// One tile of "box_sums" at one offset: what the vector code works on.
#pragma once

#include <cstdint>

#include <tessera/ops/nonlocal_means.h>

namespace tessera::cpu_tbb {

/// Voxels of a tile, and what they and their candidates are summed in. Sum is int32 for bytes, else double: sums of
/// squares of finite voxels are exact in both.
template <class Sum>
struct MeansTile {
  /// Squares of a line; a plane's lines of sums along x; every plane's lines of sums along x and y.
  Sum* memory = nullptr;
  std::int64_t line = 0;  ///< numbers of a line
  std::int64_t rows = 0;  ///< lines of a plane that are summed along x
  PerAxis count;          ///< voxels of the tile

  const std::int32_t* voxels = nullptr;  ///< the patch of the first one
  std::int64_t row = 0;
  std::int64_t plane = 0;
  std::int64_t channel = 0;
  std::int64_t channels = 1;
  std::int64_t middle = 0;  ///< from a patch's begin to its voxel
  PerAxis patch;

  const std::int32_t* table = nullptr;  ///< of weights
  float table_end = 0;                  ///< entries from here on are 0
  float steps = 0;
  Sum noise = 0;
  Sum reach = 0;

  /// Of each line of voxels a line of weights, and behind all of them, for each channel, one of weighed voxels.
  std::int64_t* sums = nullptr;

  [[nodiscard]] std::int64_t lines() const noexcept { return count.y * count.z; }
};

/// Candidates that stand `shift` numbers behind their voxels; of voxels from `first` up to `end`.
struct MeansOffset {
  std::int64_t shift = 0;
  PerAxis first{0, 0, 0};
  PerAxis end;
};

/// Adds the candidates at this offset.
void add_means_offset(const MeansTile<std::int32_t>& tile, const MeansOffset& offset);
void add_means_offset(const MeansTile<double>& tile, const MeansOffset& offset);

}  // namespace tessera::cpu_tbb
