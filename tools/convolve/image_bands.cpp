// Taking pixels apart into planes, and the margins around them.
#include "tools/convolve/image_bands.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// Bytes of pixels and sums that a band may have at most, where rows are long and the filter is high.
constexpr std::int64_t kLargestBandBytes = 1LL << 30;

/// The place inside 0 to size - 1 that a mirror at both edges shows at `place`.
std::int64_t mirrored(std::int64_t place, std::int64_t size) {
  const std::int64_t period = 2 * size;
  const std::int64_t within = ((place % period) + period) % period;
  return within < size ? within : period - 1 - within;
}

}  // namespace

void choose_rows(BandPlan& plan, std::size_t parts, std::int64_t band_bytes, const std::string& name) {
  if (plan.output_height() < 1 || plan.output_width() < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} x {} pixels, but with --border valid must be at least as large as the filter, "
                            "{} x {}",
                            name, plan.image.width, plan.image.height, plan.filter_width, plan.filter_height));
  }
  const std::int64_t sums_bytes = plan.output_width() * plan.convolved_planes() * static_cast<std::int64_t>(parts) * 4;
  // A mirror at the lower edge must find the rows that it shows in the band: see make_outside_row().
  const std::int64_t fewest = std::min(plan.output_height(), plan.filter_height);
  plan.rows = std::clamp(band_bytes / sums_bytes, fewest, plan.output_height());
  const std::int64_t bytes = plan.rows * sums_bytes + plan.padded_rows() * plan.padded_width() * plan.planes();
  if (bytes > kLargestBandBytes) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} pixels wide: the rows under this filter take {} MiB, but may take at most {} MiB",
                            name, plan.image.width, bytes >> 20, kLargestBandBytes >> 20));
  }
}

ImageBands::ImageBands(const Device& device, const BandPlan& plan)
    : plan_(plan),
      convolved_(
          device.allocate_pinned<std::uint8_t>(plan.plane_size() * static_cast<std::size_t>(plan.convolved_planes()))),
      copied_(plan.plane_size() * static_cast<std::size_t>(plan.planes() - plan.convolved_planes())),
      pixels_(plan.image.row_bytes()) {}

std::uint8_t* ImageBands::row_of(int plane, std::int64_t padded_row) {
  const int convolved = plan_.convolved_planes();
  std::uint8_t* const planes = plane < convolved ? convolved_.data() : copied_.data();
  return planes + static_cast<std::size_t>(plane < convolved ? plane : plane - convolved) * plan_.plane_size() +
         padded_row * plan_.padded_width();
}

const std::uint8_t* ImageBands::copied_row(int plane, std::int64_t row) {
  return row_of(plane, row + plan_.anchor_y) + plan_.anchor_x;
}

void ImageBands::fill(std::int64_t first_row, const std::function<void(std::span<std::uint8_t>)>& next_row) {
  const std::int64_t kept = first_row == 0 ? 0 : plan_.filter_height - 1;
  if (kept > 0) {
    for (int plane = 0; plane < plan_.planes(); ++plane) {
      std::memmove(row_of(plane, 0), row_of(plane, plan_.rows),
                   static_cast<std::size_t>(kept) * static_cast<std::size_t>(plan_.padded_width()));
    }
  }
  // The last band may end early. The rest of it keeps old pixels, whose results are not used.
  const std::int64_t count = std::min(plan_.padded_rows(), plan_.output_height() - first_row + plan_.filter_height - 1);
  const auto is_inside = [&](std::int64_t row) {
    const std::int64_t y = first_row + row - plan_.top();
    return y >= 0 && y < plan_.image.height;
  };
  for (std::int64_t row = kept; row < count; ++row) {
    if (!is_inside(row)) continue;
    next_row(pixels_);
    place_row(row);
  }
  for (std::int64_t row = kept; row < count; ++row) {
    if (!is_inside(row)) make_outside_row(row, first_row);
  }
}

void ImageBands::place_row(std::int64_t padded_row) {
  const std::int64_t width = plan_.image.width;
  const std::int64_t left = plan_.left();
  const std::int64_t right_end = plan_.padded_width() - left;
  const std::int64_t pixel_bytes = plan_.image.pixel_bytes();
  for (int plane = 0; plane < plan_.planes(); ++plane) {
    std::uint8_t* const row = row_of(plane, padded_row) + left;
    for (std::int64_t x = 0; x < width; ++x) row[x] = pixels_[static_cast<std::size_t>(x * pixel_bytes + plane)];
    const auto outside = [&](std::int64_t x) {
      return plan_.border == ImageBorder::mirror ? row[mirrored(x, width)] : std::uint8_t{0};
    };
    for (std::int64_t x = -left; x < 0; ++x) row[x] = outside(x);
    for (std::int64_t x = width; x < right_end; ++x) row[x] = outside(x);
  }
}

/// A row above or below the image. The row that the mirror shows is in the band: above, and where the whole image is in
/// one band, because the first band holds the image's first rows; below, because it is less than a filter's height
/// away, and a band keeps as many rows of the one before.
void ImageBands::make_outside_row(std::int64_t padded_row, std::int64_t first_row) {
  const std::int64_t y = first_row + padded_row - plan_.top();
  const std::int64_t shown = mirrored(y, plan_.image.height) + plan_.top() - first_row;
  for (int plane = 0; plane < plan_.planes(); ++plane) {
    std::uint8_t* const row = row_of(plane, padded_row);
    if (plan_.border == ImageBorder::mirror) {
      std::copy_n(row_of(plane, shown), plan_.padded_width(), row);
    } else {
      std::fill_n(row, plan_.padded_width(), std::uint8_t{0});
    }
  }
}

}  // namespace tessera::tool
