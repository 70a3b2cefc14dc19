// Voxels of a file as the operator denoise takes them: as bytes, 16 bits or float32; and the way back.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <tessera/types.h>

#include "tools/volumes/voxels.h"

namespace tessera::tool {

struct FilterVoxels {
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<float>> numbers;
  DataType stored = DataType::uint8;
  /// Of whole numbers: what is stored is the sum of the number and this, modulo 2^64.
  std::uint64_t offset = 0;
};

/// What voxels of a stored type become.
[[nodiscard]] constexpr DataType filter_type(DataType stored) noexcept {
  if (size_bytes(stored) == 1) return DataType::uint8;
  return stored == DataType::float32 || stored == DataType::float64 ? DataType::float32 : DataType::uint16;
}

/// uint8, uint16 and float32 are taken as they are, int8 and int16 with an offset, and larger integers, too, if they
/// span at most 65535: all without loss. float64 is rounded to float32. Error invalid_argument, in the file's name, for
/// whole numbers that span more, and for what float32 does not hold.
[[nodiscard]] FilterVoxels to_filter(Voxels&& voxels, const std::string& name);
/// In the stored type; numbers beyond its ends, as there may be of large integers, become the ends.
[[nodiscard]] Voxels to_stored(FilterVoxels&& voxels);

/// What voxels span, for Denoise::range: 255 of bytes; of other types what is left when the least and the largest
/// thousandth of the finite ones are taken away, so that a few outliers do not count.
[[nodiscard]] double usual_range(const FilterVoxels& voxels);

}  // namespace tessera::tool
