// Dealing pixels to planes, compiled once for every instruction set. Rows whose pixels lie beside each other are dealt
// to 2, 3 or 4 planes at once, in vectors:
//
//     row, with zeros around it      a b c d a b c d a b c d ..      ->  a a a ..  b b b ..  c c c ..  d d d ..
//
// by way of a short piece of it in the first-level cache, so that the vectors need not know where the image ends.
#include "ops/cnn_layer/cnn_layer_planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cnn_layer/cnn_layer_planes.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace cnn_layer_planes {

namespace hn = hwy::HWY_NAMESPACE;

/// A row of one channel: `count` pixels from `left` on, those outside of the image 0.
template <class T>
struct PixelRow {
  const T* pixels;
  std::int64_t column_step;
  std::int64_t width;
  std::int64_t left;

  /// Copies pixels [first, first + count), counted from `left`, `step` apart.
  HWY_INLINE void copy(std::int64_t first, std::int64_t step, std::int64_t count, T* HWY_RESTRICT target) const {
    const std::int64_t begin = left + first;
    const std::int64_t outside = before(begin, step, count, 0);
    const std::int64_t inside = std::max(outside, before(begin, step, count, width));
    const T* const source = pixels + begin * column_step;
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (count < lanes) {
      std::fill_n(target, outside, T(0));
      for (std::int64_t k = outside; k < inside; ++k) target[k] = source[k * step * column_step];
      std::fill_n(target + inside, count - inside, T(0));
      return;
    }
    // Whole vectors of zeros, on which the pixels are put. Calls of memset and memcpy for rows as short as these took
    // twice the time.
    const auto zero = hn::Zero(d);
    for (std::int64_t k = 0; k < outside; k += lanes) hn::StoreU(zero, d, target + std::min(k, count - lanes));
    for (std::int64_t k = count; k > inside; k -= lanes)
      hn::StoreU(zero, d, target + std::max<std::int64_t>(k - lanes, 0));
    std::int64_t k = outside;
    if (step * column_step == 1) {
      for (; k + lanes <= inside; k += lanes) hn::StoreU(hn::LoadU(d, source + k), d, target + k);
      if (k < inside && inside - outside >= lanes) {
        k = inside - lanes;
        hn::StoreU(hn::LoadU(d, source + k), d, target + k);
        return;
      }
    }
    for (; k < inside; ++k) target[k] = source[k * step * column_step];
  }

  /// Prefetches `count` pixels from `left` on, of the row that lies `distance` elements behind this one.
  HWY_INLINE void prefetch(std::int64_t distance, std::int64_t count) const {
    if (column_step != 1) return;
    constexpr auto kLine = static_cast<std::int64_t>(64 / sizeof(T));
    const std::int64_t first = std::clamp<std::int64_t>(left, 0, width);
    const std::int64_t last = std::clamp<std::int64_t>(left + count, first, width);
    for (std::int64_t x = first; x < last; x += kLine) hwy::Prefetch(pixels + distance + x);
  }

 private:
  /// How many of `count` pixels from `first` on, `step` apart, lie before `end`.
  static HWY_INLINE std::int64_t before(std::int64_t first, std::int64_t step, std::int64_t count, std::int64_t end) {
    if (first >= end) return 0;
    return std::min(count, step == 1 ? end - first : (end - first + step - 1) / step);
  }
};

/// Deals a row to kStep planes, `plane_size` elements apart.
template <int kStep, class T>
HWY_INLINE void deal(const PixelRow<T>& row, std::int64_t count, T* planes, std::int64_t plane_size) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t kPieces = 8;
  HWY_ALIGN T line[kPieces * kStep * hn::MaxLanes(d)];
  for (std::int64_t first = 0; first < count; first += kPieces * lanes) {
    const std::int64_t taken = std::min(kPieces * lanes, count - first);
    row.copy(first * kStep, 1, taken * kStep, line);
    for (std::int64_t k = 0; k < taken; k += lanes) {
      hn::VFromD<decltype(d)> v[4];
      if constexpr (kStep == 4) {
        hn::LoadInterleaved4(d, line + k * kStep, v[0], v[1], v[2], v[3]);
      } else if constexpr (kStep == 3) {
        hn::LoadInterleaved3(d, line + k * kStep, v[0], v[1], v[2]);
      } else {
        hn::LoadInterleaved2(d, line + k * kStep, v[0], v[1]);
      }
      for (std::int64_t plane = 0; plane < kStep; ++plane) {
        T* const target = planes + plane * plane_size + first + k;
        if (k + lanes <= taken) {
          hn::StoreU(v[plane], d, target);
        } else {
          hn::BlendedStore(v[plane], hn::FirstN(d, static_cast<std::size_t>(taken - k)), d, target);
        }
      }
    }
  }
}

/// Copies elements [first, first + count) of `source`, of which it has `size`; what lies outside of it stays as it was.
template <class T>
HWY_INLINE void copy_inside(const T* HWY_RESTRICT source, std::int64_t size, std::int64_t first, std::int64_t count,
                            T* HWY_RESTRICT target) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t k = std::max<std::int64_t>(0, -first);
  const std::int64_t end = std::min(count, size - first);
  source += first;
  for (; k + 4 * lanes <= end; k += 4 * lanes) {
    const auto v0 = hn::LoadU(d, source + k);
    const auto v1 = hn::LoadU(d, source + k + lanes);
    const auto v2 = hn::LoadU(d, source + k + 2 * lanes);
    const auto v3 = hn::LoadU(d, source + k + 3 * lanes);
    hn::StoreU(v0, d, target + k);
    hn::StoreU(v1, d, target + k + lanes);
    hn::StoreU(v2, d, target + k + 2 * lanes);
    hn::StoreU(v3, d, target + k + 3 * lanes);
  }
  for (; k < end; ++k) target[k] = source[k];
}

/// Planes that are the image, shifted: all rows of one in one copy, then zeros where a row took its neighbours' pixels.
template <class T>
HWY_INLINE void pack_images(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t channel,
                            const PatchGrid& grid, T* planes) {
  const CnnLayer& p = layer.problem;
  const std::int64_t width = p.width;
  const std::int64_t rows = grid.plane_rows();
  const std::int64_t above = std::clamp<std::int64_t>(-corner.top, 0, rows);
  const std::int64_t last = std::clamp<std::int64_t>(p.height - corner.top, above, rows);
  const T* const image = layer.input.at(corner.image, channel, 0, 0);
  for (std::int64_t across = 0; across < grid.planes_across(); ++across) {
    T* const plane = planes + across * grid.plane_size();
    const std::int64_t shift = std::clamp(corner.left + across, -width, width);
    std::fill_n(plane, above * width, T(0));
    copy_inside(image, p.height * width, (corner.top + above) * width + shift, (last - above) * width,
                plane + above * width);
    const std::int64_t first_zero = shift < 0 ? 0 : width - shift;
    const std::int64_t zeros = shift < 0 ? -shift : shift;
    for (std::int64_t y = above; y < last; ++y) {
      T* const edge = plane + y * width + first_zero;
      for (std::int64_t k = 0; k < zeros; ++k) edge[k] = T(0);
    }
    std::fill_n(plane + last * width, (rows - last) * width, T(0));
  }
}

/// Fills one image's segments.
template <class T>
HWY_INLINE void pack_segments(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t channel,
                              const PatchGrid& grid, T* planes) {
  const CnnLayer& p = layer.problem;
  const std::int64_t segment = grid.segment();
  const bool is_dealt = grid.planes_across() == grid.step && grid.step >= 2 && grid.step <= 4;
  for (std::int64_t down = 0; down < grid.planes_down(); ++down) {
    for (std::int64_t y = 0; y < grid.plane_rows(); ++y) {
      T* const target = planes + down * grid.planes_across() * grid.plane_size() + y * grid.pitch();
      const std::int64_t row_number = corner.top + y * grid.step + down;
      if (row_number < 0 || row_number >= p.height) {
        for (std::int64_t across = 0; across < grid.planes_across(); ++across)
          std::fill_n(target + across * grid.plane_size(), segment, T(0));
        continue;
      }
      const PixelRow<T> row{layer.input.at(corner.image, channel, row_number, 0), layer.input.column_step, p.width,
                            corner.left};
      if (channel + 1 < p.input_channels) row.prefetch(layer.input.channel_step, segment * grid.step);
      if (is_dealt && grid.step == 4) {
        deal<4>(row, segment, target, grid.plane_size());
      } else if (is_dealt && grid.step == 3) {
        deal<3>(row, segment, target, grid.plane_size());
      } else if (is_dealt) {
        deal<2>(row, segment, target, grid.plane_size());
      } else {
        for (std::int64_t across = 0; across < grid.planes_across(); ++across)
          row.copy(across, grid.step, segment, target + across * grid.plane_size());
      }
    }
  }
}

template <class T>
HWY_INLINE void pack(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t channel,
                     const PatchGrid& grid, T* planes) {
  if (grid.are_planes_images(layer.input.row_step, layer.input.column_step))
    return pack_images(layer, corner, channel, grid, planes);
  for (std::int64_t image = 0; image < grid.images; ++image) {
    pack_segments(layer, {corner.image + image, corner.top, corner.left}, channel, grid,
                  planes + image * grid.segment());
  }
}

void pack_float32(const CnnOperands<float>& layer, const PatchCorner& corner, std::int64_t channel,
                  const PatchGrid& grid, float* planes) {
  pack(layer, corner, channel, grid, planes);
}
void pack_float64(const CnnOperands<double>& layer, const PatchCorner& corner, std::int64_t channel,
                  const PatchGrid& grid, double* planes) {
  pack(layer, corner, channel, grid, planes);
}

}  // namespace cnn_layer_planes
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(pack_float32);
HWY_EXPORT(pack_float64);

template <>
void pack_planes(const CnnOperands<float>& layer, const PatchCorner& corner, std::int64_t channel,
                 const PatchGrid& grid, float* planes) {
  HWY_DYNAMIC_DISPATCH(pack_float32)(layer, corner, channel, grid, planes);
}
template <>
void pack_planes(const CnnOperands<double>& layer, const PatchCorner& corner, std::int64_t channel,
                 const PatchGrid& grid, double* planes) {
  HWY_DYNAMIC_DISPATCH(pack_float64)(layer, corner, channel, grid, planes);
}

}  // namespace tessera::cpu_tbb
#endif
