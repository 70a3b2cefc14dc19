// What a tile through local memory takes of a device, and the text that computes it.
#include "ops/gemm/gemm_local_tile.h"

#include <algorithm>

extern "C" const unsigned char tessera_opencl_gemm_register_tile[];
extern "C" const unsigned long tessera_opencl_gemm_register_tile_size;

namespace tessera::opencl {

backend::Verdict check_local_tile(const std::string& with, const LocalTileShape& shape, DataType type,
                                  const DeviceInfo& info) {
  using backend::Verdict;
  const std::uint64_t group = shape.group_size();
  if (group > info.max_group_size || group > info.max_group_extent[0]) {
    return Verdict::no(with + " takes work-groups of " + std::to_string(group) + ", but '" + info.name + "' allows " +
                       std::to_string(std::min(info.max_group_size, info.max_group_extent[0])));
  }
  if (const std::uint64_t bytes = shape.local_bytes(type); bytes > info.local_memory_bytes) {
    return Verdict::no(with + " takes " + std::to_string(bytes) + " bytes of local memory, but '" + info.name +
                       "' has " + std::to_string(info.local_memory_bytes));
  }
  return Verdict::yes();
}

std::string local_tile_text() {
  return {reinterpret_cast<const char*>(tessera_opencl_gemm_register_tile), tessera_opencl_gemm_register_tile_size};
}

}  // namespace tessera::opencl
