// The rows of the image that lie under a strip, as the march reads them: as numbers, or as pairs of 16-bit numbers.
// Numbers are read in the image itself where its pixels already are of that type; that saved a third of the time of a
// filter of 5 x 5 on one core of a Xeon.
//
// Pairs serve int32 sums on processors that add two products of 16 bits in one step. A pixel is lower + 65536 * upper,
// so modulo 2^32 its product with a weight of 16 bits is the product of lower, plus 65536 times the product of upper.
// The march first adds up the products of all uppers, shifts these sums by 16 bits, and then adds the products of the
// lowers. Each of the two takes (width + 1) / 2 steps for a row of the filter. Where all uppers are 0, as in images of
// 8 and 16 bits, the first is left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ops/conv2d/conv2d_strips.h"

namespace tessera::cpu_tbb {

/// Does the march read these pixels as they lie in the image?
template <class Number, class Pixel>
inline constexpr bool kAlike = std::is_same_v<Number, Pixel> ||
                               (std::is_same_v<Pixel, std::int32_t> &&
                                (std::is_same_v<Number, std::uint32_t> || std::is_same_v<Number, Int32AsFloat>));

/// Can these columns, and kMarchingOverhang more, be read in each row of an image?
inline bool lies_in_row(const Conv2d& problem, const SourceColumns& columns) {
  return columns.x >= 0 && columns.x + columns.count + kMarchingOverhang <= problem.width;
}

/// A part of a strip whose rows are all read in the same way.
struct StripPart {
  Strip strip;
  StripRows rows = StripRows::copied;
};

/// Cuts the strip from left to right. Where most of its columns have all their sources in the image, the march reads
/// those there, and the columns at the image's edges become parts of their own, whose rows are copied; else the whole
/// strip is copied.
template <class Number, class Pixel>
std::vector<StripPart> parts_of(const Conv2d& problem, const Strip& strip) {
  constexpr std::int64_t kVectors = 32;  // two vectors of 16, as a tile has
  if constexpr (kAlike<Number, Pixel>) {
    const std::int64_t behind = problem.filter_width - 1 - problem.anchor_x;
    const std::int64_t outside = std::max<std::int64_t>(0, problem.anchor_x - strip.column);
    const std::int64_t first = mathematics::round_up(outside, kVectors);
    const std::int64_t end = problem.width - behind - strip.column;  // from here on a source lies outside
    const std::int64_t last = end >= strip.columns ? strip.columns : (end - first) / kVectors * kVectors + first;
    if (end > first && 2 * (last - first) >= strip.columns) {
      std::vector<StripPart> parts;
      const auto add = [&](std::int64_t from, std::int64_t to, StripRows rows) {
        if (from == to) return;
        parts.push_back({strip, rows});
        parts.back().strip.column += from;
        parts.back().strip.columns = to - from;
      };
      add(0, first, StripRows::copied);
      add(first, last, StripRows::in_image);
      add(last, strip.columns, StripRows::copied);
      return parts;
    }
  }
  return {{strip, StripRows::copied}};
}

/// The rows under a part of a strip as numbers.
template <class T>
class NumberRows {
 public:
  using Number = T;  ///< what is read in the image where it holds such

  static std::size_t bytes(std::int64_t count, std::int64_t row_size) {
    return sizeof(Number) * static_cast<std::size_t>((1 + count) * row_size);
  }
  NumberRows(std::byte* memory, const SourceColumns& columns, StripRows rows, std::int64_t count, std::int64_t row_size)
      : columns_(columns),
        zeros_(reinterpret_cast<Number*>(memory)),
        ring_(zeros_ + row_size, count, row_size),
        sources_(static_cast<std::size_t>(count)),
        in_image_(rows == StripRows::in_image) {
    std::fill_n(zeros_, columns.count + kMarchingOverhang, Number(0));
    if (!in_image_) std::for_each_n(ring_.rows(), count, [&](Number* row) { clear_margins(columns, row); });
  }

  template <class Pixel>
  void take(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t place, std::int64_t y) {
    const Conv2d& p = images.problem;
    const Number*& source = sources_[static_cast<std::size_t>(place)];
    if (y < 0 || y >= p.height) {
      source = zeros_;
      return;
    }
    Number* const copy = ring_.rows()[place];
    if constexpr (kAlike<Number, Pixel>) {
      if (in_image_) {
        // The overhang may be read in the next row, but not behind the last image.
        const std::int64_t begin = (strip.image * p.height + y) * p.width + columns_.x;
        if (begin + columns_.count + kMarchingOverhang <= p.batch * p.height * p.width) {
          source = reinterpret_cast<const Number*>(images.image + begin);
          return;
        }
        clear_margins(columns_, copy);
      }
    }
    copy_pixels(images, strip, y, columns_, copy);
    source = copy;
  }
  template <class Output>
  void give(MarchingRows<Number, Output>& rows) const {
    rows.sources = sources_.data();
  }
  void advance(std::int64_t count) {
    ring_.advance(count);
    std::rotate(sources_.begin(), sources_.begin() + count, sources_.end());
  }

 private:
  SourceColumns columns_;
  Number* zeros_;  ///< a row, for all above and below the image
  RowRing<Number> ring_;
  std::vector<const Number*> sources_;  ///< in the ring, in the image, or the zeros
  bool in_image_;
};

/// The same as pairs. Where all pixels under a few output rows fit 16 bits, their upper halves are left out.
template <bool kHasUpper>
class PairRows {
 public:
  using Number = Int16Pair;

  static std::size_t bytes(std::int64_t count, std::int64_t row_size) {
    return sizeof(Int16Pair) * static_cast<std::size_t>(((kHasUpper ? 2 : 1) * count + 1) * row_size);
  }
  PairRows(std::byte* memory, const SourceColumns& columns, StripRows /*rows*/, std::int64_t count,
           std::int64_t row_size)
      : columns_(columns),
        numbers_(reinterpret_cast<std::uint32_t*>(memory)),
        lower_(reinterpret_cast<Int16Pair*>(numbers_ + row_size), count, row_size),
        upper_(reinterpret_cast<Int16Pair*>(numbers_ + (count + 1) * row_size), kHasUpper ? count : 0, row_size) {
    clear_margins(columns, numbers_);
  }

  template <class Pixel>
  void take(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t place, std::int64_t y) {
    const Conv2d& p = images.problem;
    const std::uint32_t* numbers = numbers_;
    if (kAlike<std::uint32_t, Pixel> && y >= 0 && y < p.height && lies_in_row(p, columns_)) {
      const Pixel* const row = images.image + (strip.image * p.height + y) * p.width;
      numbers = reinterpret_cast<const std::uint32_t*>(row + columns_.x);
    } else {
      copy_pixels(images, strip, y, columns_, numbers_);
    }
    Int16Pair* const upper = kHasUpper ? upper_.rows()[place] : nullptr;
    if (make_pairs(numbers, columns_.count, lower_.rows()[place], upper)) last_with_upper_ = place;
  }
  void give(MarchingRows<Int16Pair, std::int32_t>& rows) const {
    rows.sources = lower_.rows();
    rows.upper_sources = kHasUpper && last_with_upper_ >= 0 ? upper_.rows() : nullptr;
  }
  void advance(std::int64_t count) {
    lower_.advance(count);
    if (kHasUpper) upper_.advance(count);
    last_with_upper_ -= count;
  }

 private:
  SourceColumns columns_;
  std::uint32_t* numbers_;
  RowRing<Int16Pair> lower_;
  RowRing<Int16Pair> upper_;
  std::int64_t last_with_upper_ = -1;  ///< the last row with a pixel that 16 bits do not hold
};

/// Is it worth trying to compute an int32 image in float? Not where the weights are so large that even sums of pixels
/// up to 255 would not be exact.
[[nodiscard]] inline bool tries_as_float(const Conv2d& problem) {
  constexpr double kFewest = 255;
  return mathematics::largest_exact_in_float32(problem) >= kFewest;
}
/// The largest magnitude that pixels of type Int32AsFloat may have. Every integer up to 2^24 is a float.
[[nodiscard]] inline std::int32_t largest_as_float(const Conv2d& problem) {
  constexpr double kMost = 1 << 24;
  return static_cast<std::int32_t>(std::min(kMost, mathematics::largest_exact_in_float32(problem)));
}

/// Looks at the first pixels: a strip that will not stay exact in float mostly shows it there, before a step is
/// computed in vain.
[[nodiscard]] inline bool begins_exact_as_float(const Conv2dImages<std::int32_t>& images, const Strip& strip,
                                                std::int32_t largest) {
  const Conv2d& p = images.problem;
  const std::int64_t row = std::clamp<std::int64_t>(strip.row - p.anchor_y, 0, p.height - 1);
  const std::int64_t first = std::clamp<std::int64_t>(strip.column - p.anchor_x, 0, p.width - 1);
  const std::int64_t count = std::min<std::int64_t>(256, p.width - first);
  const std::int32_t* const pixels = images.image + (strip.image * p.height + row) * p.width + first;
  std::int32_t highest = 0;
  std::int32_t lowest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    highest = std::max(highest, pixels[i]);
    lowest = std::min(lowest, pixels[i]);
  }
  return highest <= largest && lowest >= -largest;
}

/// Do 16 bits hold every weight?
[[nodiscard]] inline bool fits_pairs(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](double weight) { return weight >= INT16_MIN && weight <= INT16_MAX; });
}

/// Rows of `width` weights, two beside each other as one, the last of a row beside 0.
[[nodiscard]] inline std::vector<Int16Pair> pairs_of_weights(const std::vector<double>& weights, std::int64_t width) {
  const auto rows = static_cast<std::int64_t>(weights.size()) / width;
  std::vector<Int16Pair> pairs;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; j += 2) {
      const auto half = [&](std::int64_t column) -> std::uint32_t {
        if (column >= width) return 0;
        const double weight = weights[static_cast<std::size_t>(i * width + column)];
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(weight)) & 0xffffU;
      };
      pairs.push_back(static_cast<Int16Pair>(half(j) | half(j + 1) << 16));
    }
  }
  return pairs;
}

}  // namespace tessera::cpu_tbb
