// Dealing pixels to planes.
#include "ops/cnn_layer/cnn_layer_planes.h"

#include <cstring>

namespace tessera::cpu_tbb {

namespace {

/// How many of `count` pixels from `first` on, `step` apart, lie before `end`.
std::int64_t before(std::int64_t first, std::int64_t step, std::int64_t count, std::int64_t end) {
  if (first >= end) return 0;
  return std::min(count, (end - first + step - 1) / step);
}

/// One row of a plane: pixels left, left + step, ... of `row`, which holds `width` of them.
template <class T>
void pack_row(const T* row, std::int64_t column_step, std::int64_t width, std::int64_t left, std::int64_t step,
              std::int64_t count, T* target) {
  const std::int64_t outside = before(left, step, count, 0);
  const std::int64_t inside = before(left, step, count, width);
  for (std::int64_t k = 0; k < outside; ++k) target[k] = T(0);
  const std::int64_t apart = step * column_step;
  const T* const source = row + left * column_step;
  if (apart == 1) {
    if (inside > outside)
      std::memcpy(target + outside, source + outside, static_cast<std::size_t>(inside - outside) * sizeof(T));
  } else if (apart == 4) {
    for (std::int64_t k = outside; k < inside; ++k) target[k] = source[k * 4];
  } else {
    for (std::int64_t k = outside; k < inside; ++k) target[k] = source[k * apart];
  }
  for (std::int64_t k = std::max(inside, outside); k < count; ++k) target[k] = T(0);
}

}  // namespace

template <class T>
void pack_planes(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t channel, const PatchGrid& grid,
                 T* planes) {
  const CnnLayer& p = layer.problem;
  const std::int64_t pitch = grid.pitch();
  for (std::int64_t down = 0; down < grid.planes_down(); ++down) {
    for (std::int64_t across = 0; across < grid.planes_across(); ++across) {
      for (std::int64_t y = 0; y < grid.plane_rows(); ++y, planes += pitch) {
        const std::int64_t row = corner.top + y * grid.step + down;
        if (row < 0 || row >= p.height) {
          std::fill_n(planes, pitch, T(0));
        } else {
          pack_row(layer.input.at(corner.image, channel, row, 0), layer.input.column_step, p.width,
                   corner.left + across, grid.step, pitch, planes);
        }
      }
    }
  }
}

template void pack_planes(const CnnOperands<float>&, const PatchCorner&, std::int64_t, const PatchGrid&, float*);
template void pack_planes(const CnnOperands<double>&, const PatchCorner&, std::int64_t, const PatchGrid&, double*);

}  // namespace tessera::cpu_tbb
