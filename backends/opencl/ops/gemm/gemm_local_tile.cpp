// What a tile through local memory takes of a device.
#include "ops/gemm/gemm_local_tile.h"

#include <algorithm>
#include <utility>

#include "opencl_known_faults.h"

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
  if (shape.slices > 1 && loses_sums_of_slices(info)) {
    return Verdict::no(with + " adds up slices of a work-group, which PoCL " + info.driver_version +
                       " computes wrongly on '" + info.name + "'; PoCL 3 is right");
  }
  return Verdict::yes();
}

void add_tiles(const std::vector<LocalTileShape>& shapes, Tunable& tile_m, Tunable& tile_n) {
  const auto add = [](auto& values, const auto& value) {
    const auto place = std::lower_bound(values.begin(), values.end(), value);
    if (place == values.end() || *place != value) values.insert(place, value);
  };
  for (const LocalTileShape& shape : shapes) {
    add(tile_m.values, shape.tile_m);
    add(tile_n.values, shape.tile_n);
    add(tile_n.pairs, std::pair{shape.tile_m, shape.tile_n});
  }
}

LocalTileShape tile_of(const std::vector<LocalTileShape>& shapes, const Tuning& tuning) {
  return *std::find_if(shapes.begin(), shapes.end(), [&](const LocalTileShape& shape) {
    return shape.tile_m == tuning.at("tile_m") && shape.tile_n == tuning.at("tile_n");
  });
}

backend::Verdict pays_without_local_memory(const DeviceInfo& info, const backend::Verdict& check_shared) {
  if (info.kind == DeviceKind::cpu || !check_shared) return backend::Verdict::yes();
  return backend::Verdict::no("'" + info.name + "' is no processor, and shares tiles in local memory faster");
}

}  // namespace tessera::opencl
