// The voxels of a volume in the type in which a file stores them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/types.h>

#include "tools/input/stored_numbers.h"

namespace tessera::tool {

/// In the order of DataType.
using Voxels =
    std::variant<std::vector<std::int8_t>, std::vector<std::uint8_t>, std::vector<std::int16_t>,
                 std::vector<std::uint16_t>, std::vector<std::int32_t>, std::vector<std::uint32_t>,
                 std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<float>, std::vector<double>>;

[[nodiscard]] inline DataType type_of(const Voxels& voxels) noexcept {
  return static_cast<DataType>(voxels.index());
}

/// An empty vector of the type.
[[nodiscard]] inline Voxels no_voxels(DataType type) {
  return with_type(type, [](auto number) -> Voxels { return std::vector<decltype(number)>(); });
}

[[nodiscard]] inline std::size_t count_of(const Voxels& voxels) noexcept {
  return std::visit([](const auto& numbers) { return numbers.size(); }, voxels);
}

/// Three channels that stand side by side, r g b r g b, as one behind the other, r r g g b b.
template <class T>
[[nodiscard]] std::vector<T> apart(const std::vector<T>& side_by_side) {
  const std::size_t voxels = side_by_side.size() / 3;
  std::vector<T> planes(side_by_side.size());
  for (std::size_t i = 0; i < side_by_side.size(); ++i) planes[i % 3 * voxels + i / 3] = side_by_side[i];
  return planes;
}

}  // namespace tessera::tool
