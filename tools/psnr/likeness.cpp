// Two files side by side.
#include "tools/psnr/likeness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <tessera/error.h>

#include "tools/output/progress.h"
#include "tools/process/interrupt.h"

namespace tessera::tool {

namespace {

std::string text_of_size(const VolumeHead& head) {
  return fmt::format("{} x {} x {}, {} {}, {} {}", head.size.x, head.size.y, head.size.z, head.channels,
                     head.channels == 1 ? "channel" : "channels", head.frames, head.frames == 1 ? "volume" : "volumes");
}

/// Planes of one channel, in what stored numbers stand for.
PlaneSource planes_of(const VolumeHead& head, const Voxels& voxels, std::int64_t channel) {
  return [&head, &voxels, channel](std::int64_t z, std::span<double> plane) {
    const std::size_t first = static_cast<std::size_t>(channel * head.size.z + z) * plane.size();
    std::visit(
        [&](const auto& numbers) {
          for (std::size_t i = 0; i < plane.size(); ++i) {
            plane[i] = head.slope * static_cast<double>(numbers[first + i]) + head.intercept;
          }
        },
        voxels);
  };
}

double span_of_finite(const VolumeHead& head, const Voxels& voxels) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  std::visit(
      [&](const auto& numbers) {
        for (const auto stored : numbers) {
          const auto number = static_cast<double>(stored);
          if (!std::isfinite(number)) continue;
          least = std::min(least, number);
          most = std::max(most, number);
        }
      },
      voxels);
  return most > least ? (most - least) * std::abs(head.slope) : 0;
}

class Comparison {
 public:
  Comparison(VolumeFile& one, VolumeFile& other, double peak) : one_(one), other_(other) {
    const VolumeHead &a = one.head(), &b = other.head();
    if (a.size != b.size || a.channels != b.channels || a.frames != b.frames) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} has {}, but {} has {}", one.name(), text_of_size(a), other.name(), text_of_size(b)));
    }
    result_.peak = peak > 0 || a.type != DataType::uint8 ? peak : 255 * std::abs(a.slope);
  }

  Likeness run() {
    const VolumeHead& head = one_.head();
    Progress progress(static_cast<std::size_t>(head.frames * head.channels));
    for (std::int64_t frame = 0; frame < head.frames; ++frame) {
      const Voxels one = one_.read(), other = other_.read();
      if (result_.peak == 0) find_peak(one);
      for (std::int64_t channel = 0; channel < head.channels; ++channel) {
        progress.show(static_cast<std::size_t>(frame * head.channels + channel), "comparing");
        compare(planes_of(head, one, channel), planes_of(other_.head(), other, channel), frame, channel);
      }
    }
    result_.ssim /= static_cast<double>(head.frames * head.channels);
    if (result_.left_out > 0) result_.ssim = std::numeric_limits<double>::quiet_NaN();
    const double mean_square = squares_ / static_cast<double>(compared_);
    result_.psnr_db = 10 * std::log10(result_.peak * result_.peak / mean_square);
    return result_;
  }

 private:
  void find_peak(const Voxels& voxels) {
    result_.peak = span_of_finite(one_.head(), voxels);
    if (result_.peak > 0) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} holds a single number, which spans nothing; --peak says what PSNR relates to", one_.name()));
  }

  void compare(const PlaneSource& one, const PlaneSource& other, std::int64_t frame, std::int64_t channel) {
    const PerAxis& size = one_.head().size;
    std::vector<double> plane(static_cast<std::size_t>(size.x * size.y)), other_plane(plane.size());
    for (std::int64_t z = 0; z < size.z; ++z) {
      stop_if_interrupted();
      one(z, plane);
      other(z, other_plane);
      for (std::int64_t i = 0; i < size.x * size.y; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (!std::isfinite(plane[at]) || !std::isfinite(other_plane[at])) {
          ++result_.left_out;
          continue;
        }
        const double difference = std::abs(plane[at] - other_plane[at]);
        squares_ += difference * difference;
        ++compared_;
        if (!(difference > result_.difference)) continue;
        result_.difference = difference;
        result_.frame = frame;
        result_.channel = channel;
        result_.x = i % size.x;
        result_.y = i / size.x;
        result_.z = z;
      }
    }
    if (result_.left_out == 0) result_.ssim += structural_similarity(one, other, size, result_.peak);
  }

  VolumeFile& one_;
  VolumeFile& other_;
  Likeness result_;
  double squares_ = 0;
  std::int64_t compared_ = 0;
};

}  // namespace

Likeness likeness_of(VolumeFile& one, VolumeFile& other, double peak) {
  return Comparison(one, other, peak).run();
}

}  // namespace tessera::tool
