// Strides and grey values.
#include "tools/slice/slice.h"

#include <algorithm>
#include <cmath>

namespace tessera::tool {

namespace {

constexpr double kWhite = 255;

std::uint8_t grey_of(double value, const SliceWindow& window) {
  const auto [black, white] = window;
  if (!(value > black)) return 0;
  if (value >= white) return static_cast<std::uint8_t>(kWhite);
  return static_cast<std::uint8_t>(std::floor((value - black) / (white - black) * kWhite + 0.5));
}

}  // namespace

SliceWindow usual_window(const VolumeHead& head, const Voxels& voxels) {
  double least = 0, most = kWhite;
  if (head.type != DataType::uint8) {
    bool is_first = true;
    const auto look = [&](double number) {
      if (!std::isfinite(number)) return;
      least = is_first ? number : std::min(least, number);
      most = is_first ? number : std::max(most, number);
      is_first = false;
    };
    std::visit(
        [&](const auto& numbers) {
          for (const auto number : numbers) look(static_cast<double>(number));
        },
        voxels);
  }
  return std::minmax({head.slope * least + head.intercept, head.slope * most + head.intercept});
}

SliceImage slice_of(const VolumeHead& head, const Voxels& voxels, SliceAxis axis, std::int64_t at,
                    const SliceWindow& window) {
  const std::int64_t row = head.size.x, plane = head.size.x * head.size.y;
  std::int64_t across = 1, down = row, first = at * plane;
  SliceImage image{.width = head.size.x, .height = head.size.y, .pixels = {}};
  if (axis != SliceAxis::z) {
    down = plane;
    image.height = head.size.z;
    first = axis == SliceAxis::y ? at * row : at;
  }
  if (axis == SliceAxis::x) {
    across = row;
    image.width = head.size.y;
  }
  std::visit(
      [&](const auto& numbers) {
        for (std::int64_t channel = 0; channel < head.channels; ++channel) {
          for (std::int64_t y = 0; y < image.height; ++y) {
            for (std::int64_t x = 0; x < image.width; ++x) {
              const std::int64_t place = channel * head.size.product() + first + y * down + x * across;
              const auto number = static_cast<double>(numbers[static_cast<std::size_t>(place)]);
              image.pixels.push_back(grey_of(head.slope * number + head.intercept, window));
            }
          }
        }
      },
      voxels);
  return image;
}

}  // namespace tessera::tool
