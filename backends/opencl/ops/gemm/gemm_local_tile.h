// A product's tile in registers, fed through local memory (gemm_register_tile.cl): its sizes and what they take of a
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/variant.h"
#include "opencl_facts.h"
#include "ops/joined_parts.h"

namespace tessera::opencl {

/// What gemm_register_tile.cl leaves open.
struct LocalTileShape {
  std::int64_t tile_m;
  std::int64_t tile_n;
  std::int64_t work_m;
  std::int64_t work_n;
  std::int64_t depth;
  std::int64_t slices = 1;
  std::int64_t stages = 2;       ///< pairs of tiles in local memory
  int tensor_cores = 0;          ///< 0, or the NVIDIA architecture whose instruction multiplies float64: 80, 90
  bool is_asynchronous = false;  ///< copies of NVIDIA's that pass no register, of float32

  [[nodiscard]] std::uint64_t group_size() const {
    return static_cast<std::uint64_t>(tile_m / work_m * (tile_n / work_n) * slices);
  }
  /// The pairs of tiles, with the longest rows that transposes may ask for, and in their place later the slices' sums.
  [[nodiscard]] std::uint64_t local_bytes(DataType type) const {
    constexpr std::int64_t kVectorBytes = 16;
    const auto element = static_cast<std::int64_t>(size_bytes(type));
    const std::int64_t padding_bytes = tensor_cores != 0 ? 2 * kVectorBytes : kVectorBytes;
    const std::int64_t tiles = stages * depth * ((tile_m + tile_n) * element + 2 * padding_bytes);
    const std::int64_t sums = work_n * kVectorBytes * static_cast<std::int64_t>(group_size());
    return static_cast<std::uint64_t>(slices > 1 ? std::max(tiles, sums) : tiles) + kJointBytes;
  }
  [[nodiscard]] std::string options() const {
    return " -DTILE_M=" + std::to_string(tile_m) + " -DTILE_N=" + std::to_string(tile_n) +
           " -DWORK_M=" + std::to_string(work_m) + " -DWORK_N=" + std::to_string(work_n) +
           " -DDEPTH=" + std::to_string(depth) + " -DSLICES=" + std::to_string(slices) +
           " -DSTAGES=" + std::to_string(stages) + " -DTENSOR_CORES=" + std::to_string(tensor_cores) +
           " -DASYNC=" + (is_asynchronous ? "1" : "0");
  }
};

/// Has the device groups and local memory as large? `with` begins the reason: "gemm with tile = 64".
[[nodiscard]] backend::Verdict check_local_tile(const std::string& with, const LocalTileShape& shape, DataType type,
                                                const DeviceInfo& info);

/// Gives the tunables tile_m and tile_n, which are a pair, the values of these shapes.
void add_tiles(const std::vector<LocalTileShape>& shapes, Tunable& tile_m, Tunable& tile_n);
/// The first of these shapes with the tile that a tuning names.
[[nodiscard]] LocalTileShape tile_of(const std::vector<LocalTileShape>& shapes, const Tuning& tuning);

/// Backend::Variant::pays of the variants whose work-items read operands alone: on processors, and where the one that
/// shares such tiles refuses, which `check_shared` says.
[[nodiscard]] backend::Verdict pays_without_local_memory(const DeviceInfo& info, const backend::Verdict& check_shared);

}  // namespace tessera::opencl
