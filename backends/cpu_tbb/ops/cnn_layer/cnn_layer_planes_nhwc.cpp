// Planes of several channels at once, for images whose channels lie beside each other:
//
//     image        pixel 0: a b c d    pixel 1: a b c d    ...      planes   a a a a ..   b b b b ..   c c c c ..
//
// A row of pixels is turned as a matrix is, pixels by channels. Channel after channel, each line of the image would
// come from the second-level cache once for every channel that it holds.
#include <algorithm>

#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_planes.h"
#include "ops/gemm/gemm_register_pack.h"

namespace tessera::cpu_tbb {

namespace {

/// How many of `count` pixels from `first` on, `step` apart, lie before `end`.
std::int64_t pixels_before(std::int64_t first, std::int64_t step, std::int64_t count, std::int64_t end) {
  return first >= end ? 0 : std::min(count, mathematics::ceil_div(end - first, step));
}

/// Fills one image's segments.
template <class T>
void pack_segments(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t first_channel,
                   std::int64_t channels, const PatchGrid& grid, T* planes) {
  const CnnLayer& p = layer.problem;
  const std::int64_t segment = grid.segment(), step = grid.step, across_count = grid.planes_across();
  for (std::int64_t down = 0; down < grid.planes_down(); ++down) {
    for (std::int64_t y = 0; y < grid.plane_rows(); ++y) {
      const std::int64_t row = corner.top + y * step + down;
      const bool is_inside = row >= 0 && row < p.height;
      for (std::int64_t across = 0; across < across_count; ++across) {
        T* const target = planes + (down * across_count + across) * grid.plane_size() + y * grid.pitch();
        const std::int64_t left = corner.left + across;
        const std::int64_t first = is_inside ? pixels_before(left, step, segment, 0) : segment;
        const std::int64_t last = is_inside ? std::max(first, pixels_before(left, step, segment, p.width)) : segment;
        for (std::int64_t channel = 0; channel < channels; ++channel) {
          T* const plane_row = target + channel * grid.channel_size();
          std::fill_n(plane_row, first, T(0));
          std::fill_n(plane_row + last, segment - last, T(0));
        }
        if (first == last) continue;
        const ConstMatrix<T> pixels{layer.input.at(corner.image, first_channel, row, left + first * step), 1,
                                    layer.input.column_step * step};
        pack_panel(pixels, channels, last - first, target + first, grid.channel_size());
      }
    }
  }
}

}  // namespace

template <class T>
void pack_planes_of_channels(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t first_channel,
                             std::int64_t channels, const PatchGrid& grid, T* planes) {
  for (std::int64_t image = 0; image < grid.images; ++image) {
    pack_segments(layer, {corner.image + image, corner.top, corner.left}, first_channel, channels, grid,
                  planes + image * grid.segment());
  }
}

template void pack_planes_of_channels(const CnnOperands<float>&, const PatchCorner&, std::int64_t, std::int64_t,
                                      const PatchGrid&, float*);
template void pack_planes_of_channels(const CnnOperands<double>&, const PatchCorner&, std::int64_t, std::int64_t,
                                      const PatchGrid&, double*);

}  // namespace tessera::cpu_tbb
