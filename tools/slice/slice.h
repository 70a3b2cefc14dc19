// One plane of a volume as the pixels of an image.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/volumes/volume_file.h"

namespace tessera::tool {

enum class SliceAxis { x, y, z };

struct SliceImage {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;  ///< channel behind channel
};

/// What is black and what is white.
using SliceWindow = std::pair<double, double>;

/// The window in which bytes are shown as they are; and other types from the least to the largest finite number of the
/// volume. In what stored numbers stand for.
[[nodiscard]] SliceWindow usual_window(const VolumeHead& head, const Voxels& voxels);

/// Plane `at`, counted from 0: of z its columns run along x and its rows along y, of y along x and z, of x along y and
/// z. Numbers beyond the window are black or white, NaN is black.
[[nodiscard]] SliceImage slice_of(const VolumeHead& head, const Voxels& voxels, SliceAxis axis, std::int64_t at,
                                  const SliceWindow& window);

}  // namespace tessera::tool
