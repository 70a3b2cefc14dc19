// What a tile through local memory takes of a device, and the text that computes it.
#include "ops/gemm/gemm_local_tile.h"

#include <algorithm>
#include <cstdlib>

extern "C" const unsigned char tessera_opencl_gemm_register_tile[];
extern "C" const unsigned long tessera_opencl_gemm_register_tile_size;
extern "C" const unsigned char tessera_opencl_gemm_register_fma[];
extern "C" const unsigned long tessera_opencl_gemm_register_fma_size;
extern "C" const unsigned char tessera_opencl_gemm_register_tensor[];
extern "C" const unsigned long tessera_opencl_gemm_register_tensor_size;

namespace tessera::opencl {

namespace {

/// PoCL 5.0 computes wrong results with slices: where it makes vectors of work-items, elements of the first slice's
/// sums get lost, however they are stored. PoCL 3.1 is right.
bool loses_slices(const DeviceInfo& info) {
  constexpr long kLastRight = 3;
  return info.driver == "Portable Computing Language" &&
         std::strtol(info.driver_version.c_str(), nullptr, 10) > kLastRight;
}

}  // namespace

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
  if (shape.slices > 1 && loses_slices(info)) {
    return Verdict::no(with + " adds up slices of a work-group, which PoCL " + info.driver_version +
                       " computes wrongly on '" + info.name + "'; PoCL 3 is right");
  }
  return Verdict::yes();
}

std::string local_tile_text(const LocalTileShape& shape) {
  std::string text(reinterpret_cast<const char*>(tessera_opencl_gemm_register_tile),
                   tessera_opencl_gemm_register_tile_size);
  if (shape.tensor_cores != 0) {
    text.append(reinterpret_cast<const char*>(tessera_opencl_gemm_register_tensor),
                tessera_opencl_gemm_register_tensor_size);
  } else {
    text.append(reinterpret_cast<const char*>(tessera_opencl_gemm_register_fma), tessera_opencl_gemm_register_fma_size);
  }
  return text;
}

}  // namespace tessera::opencl
