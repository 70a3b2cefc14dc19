// The rows of the image that lie under a strip, as the march reads them: numbers, or pairs of 16 bits.
//
// Pairs serve int32 sums on processors that add two products of 16 bits in one step. A pixel is lower + 65536 * upper,
// so modulo 2^32 its product with a weight of 16 bits is that of lower, plus 65536 times that of upper: the march adds
// up the uppers, shifts the sums and adds the lowers. Each takes (width + 1) / 2 steps for a row of the filter. Where
// nothing lies in the uppers, as in images of 8 and 16 bits, that march is left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ops/conv2d/conv2d_strips.h"

namespace tessera::cpu_tbb {

/// Where `count` pixels of the strip's image lie from (y, x) on, if they can be read there as numbers like those that
/// copy_pixels() makes, and kMarchingOverhang more; else null.
template <class Sum, class Pixel>
const Sum* row_in_image(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t y, std::int64_t x,
                        std::int64_t count) {
  constexpr bool kAlike = std::is_same_v<Sum, Pixel> || (std::is_same_v<Sum, std::uint32_t> && sizeof(Pixel) == 4);
  const Conv2d& p = images.problem;
  if (!kAlike || y < 0 || y >= p.height || x < 0 || x + count + kMarchingOverhang > p.width) return nullptr;
  return reinterpret_cast<const Sum*>(images.image + (strip.image * p.height + y) * p.width + x);
}

/// The rows under a strip as numbers: in the image where it holds such, copied where a pixel must be made into one and
/// around the image. On one core of a Xeon copying took a third of the time for a filter of 5 x 5.
template <class Sum>
class NumberRows {
 public:
  static std::size_t bytes(std::int64_t count, std::int64_t row_size) {
    return sizeof(Sum) * static_cast<std::size_t>(count * row_size);
  }
  NumberRows(std::byte* memory, std::int64_t count, std::int64_t row_size)
      : ring_(reinterpret_cast<Sum*>(memory), count, row_size), sources_(static_cast<std::size_t>(count)) {}

  template <class Pixel>
  void take(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t place, std::int64_t y, std::int64_t x,
            std::int64_t count) {
    const Sum*& source = sources_[static_cast<std::size_t>(place)];
    source = row_in_image<Sum>(images, strip, y, x, count);
    if (source != nullptr) return;
    source = ring_.rows()[place];
    copy_pixels(images, strip, y, x, count, ring_.rows()[place]);
  }
  template <class Output>
  void give(MarchingRows<Sum, Output>& rows) const {
    rows.sources = sources_.data();
  }
  void advance(std::int64_t count) {
    ring_.advance(count);
    std::rotate(sources_.begin(), sources_.begin() + count, sources_.end());
  }

 private:
  RowRing<Sum> ring_;
  std::vector<const Sum*> sources_;  ///< in the ring, or in the image
};

/// The same as pairs. Where all pixels under a few output rows fit 16 bits, their upper halves are left out.
template <bool kHasUpper>
class PairRows {
 public:
  static std::size_t bytes(std::int64_t count, std::int64_t row_size) {
    return sizeof(Pair) * static_cast<std::size_t>(((kHasUpper ? 2 : 1) * count + 1) * row_size);
  }
  PairRows(std::byte* memory, std::int64_t count, std::int64_t row_size)
      : numbers_(reinterpret_cast<std::uint32_t*>(memory)),
        lower_(reinterpret_cast<Pair*>(numbers_ + row_size), count, row_size),
        upper_(reinterpret_cast<Pair*>(numbers_ + (count + 1) * row_size), kHasUpper ? count : 0, row_size) {}

  template <class Pixel>
  void take(const Conv2dImages<Pixel>& images, const Strip& strip, std::int64_t place, std::int64_t y, std::int64_t x,
            std::int64_t count) {
    const std::uint32_t* numbers = row_in_image<std::uint32_t>(images, strip, y, x, count);
    if (numbers == nullptr) {
      numbers = numbers_;
      copy_pixels(images, strip, y, x, count, numbers_);
      std::fill_n(numbers_ + count, kMarchingOverhang, 0U);
    }
    Pair* const upper = kHasUpper ? upper_.rows()[place] : nullptr;
    if (make_pairs(numbers, count, lower_.rows()[place], upper)) last_with_upper_ = place;
  }
  void give(MarchingRows<Pair, std::int32_t>& rows) const {
    rows.sources = lower_.rows();
    rows.upper_sources = kHasUpper && last_with_upper_ >= 0 ? upper_.rows() : nullptr;
  }
  void advance(std::int64_t count) {
    lower_.advance(count);
    if (kHasUpper) upper_.advance(count);
    last_with_upper_ -= count;
  }

 private:
  std::uint32_t* numbers_;
  RowRing<Pair> lower_;
  RowRing<Pair> upper_;
  std::int64_t last_with_upper_ = -1;  ///< the last row with a pixel that 16 bits do not hold
};

/// Do 16 bits hold every weight?
[[nodiscard]] inline bool fits_pairs(const std::vector<double>& weights) {
  return std::all_of(weights.begin(), weights.end(),
                     [](double weight) { return weight >= INT16_MIN && weight <= INT16_MAX; });
}

/// Rows of `width` weights, two beside each other as one, the last of a row beside 0.
[[nodiscard]] inline std::vector<Pair> pairs_of_weights(const std::vector<double>& weights, std::int64_t width) {
  const auto rows = static_cast<std::int64_t>(weights.size()) / width;
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; j += 2) {
      const auto half = [&](std::int64_t column) -> std::uint32_t {
        if (column >= width) return 0;
        const double weight = weights[static_cast<std::size_t>(i * width + column)];
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(weight)) & 0xffffU;
      };
      pairs.push_back(static_cast<Pair>(half(j) | half(j + 1) << 16));
    }
  }
  return pairs;
}

}  // namespace tessera::cpu_tbb
