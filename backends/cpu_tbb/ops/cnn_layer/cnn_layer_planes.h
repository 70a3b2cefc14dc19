// Pixels laid out so that patches of equal shape become rows of a matrix, without copying any pixel twice.
//
// A patch of patch_height x patch_width pixels is taken at every position of a grid, `step` pixels apart: the filters
// of a convolution with a stride, or Winograd's tiles. The pixels that lie (i, j) in their patches, position after
// position, are one row of the matrix. They are every step-th pixel of every step-th row, so the image is dealt to step
// x step planes; in one of them a row of the matrix is a run without gaps, from a place of its own on:
//
//     image, step 2        planes                       row (i, j): plane (i mod step, j mod step), from element
//     a b a b a b          a a a  b b b                 (i / step) * pitch + j / step on
//     c d c d c d          a a a  b b b
//     a b a b a b          c c c  d d d                 Positions are counted through with the planes' pitch: between
//     c d c d c d          c c c  d d d                 two rows of positions lie pitch - columns that mean nothing.
//
// Where images are narrow, computing the positions that mean nothing costs more than copying pixels. There the columns
// of patches are kept apart: each j has planes of its own, and positions follow each other without gaps. If a row has
// as many positions as the image has pixels, because padding keeps the image's size, such a plane is the image itself,
// shifted by j, with zeros at its edge.
//
// Several images of a batch are one grid, in which they lie side by side: each row of a plane has a segment of every
// image, with its own zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/cnn_layer/cnn_layer_operands.h"

namespace tessera::cpu_tbb {

struct PatchGrid {
  std::int64_t rows = 0;     ///< of positions
  std::int64_t columns = 0;  ///< of positions, in one image
  std::int64_t step = 1;
  std::int64_t patch_height = 0;
  std::int64_t patch_width = 0;
  bool are_columns_apart = false;  ///< the columns of patches
  std::int64_t images = 1;         ///< side by side

  /// Elements of one image in a row of a plane.
  [[nodiscard]] std::int64_t segment() const noexcept {
    return are_columns_apart ? columns : columns + (patch_width - 1) / step;
  }
  [[nodiscard]] std::int64_t pitch() const noexcept { return images * segment(); }
  [[nodiscard]] std::int64_t plane_rows() const noexcept { return rows + (patch_height - 1) / step; }
  [[nodiscard]] std::int64_t plane_size() const noexcept { return plane_rows() * pitch(); }
  [[nodiscard]] std::int64_t planes_down() const noexcept { return std::min(step, patch_height); }
  [[nodiscard]] std::int64_t planes_across() const noexcept {
    return are_columns_apart ? patch_width : std::min(step, patch_width);
  }
  /// Do a plane's rows lie as those of an image with these steps do, so that one copy takes them all?
  [[nodiscard]] bool are_planes_images(std::int64_t row_step, std::int64_t column_step) const noexcept {
    return images == 1 && are_columns_apart && step == 1 && column_step == 1 && row_step == columns;
  }
  /// Elements of all planes of one channel.
  [[nodiscard]] std::int64_t channel_size() const noexcept { return planes_down() * planes_across() * plane_size(); }
  /// Positions from the first to the last, those that mean nothing among them.
  [[nodiscard]] std::int64_t count() const noexcept { return rows * pitch() - segment() + columns; }
  /// Where in a channel's planes row (i, j) begins.
  [[nodiscard]] std::int64_t offset(std::int64_t i, std::int64_t j) const noexcept {
    const std::int64_t across = are_columns_apart ? j : j % step;
    return (i % step * planes_across() + across) * plane_size() + i / step * pitch() + (j - across) / step;
  }
};

/// What vectors may read behind the last plane, in elements.
inline constexpr std::int64_t kPlanesSlack = 64;

/// Where the first patch begins, in an image; rows and columns may lie outside of it. Where a grid has several images,
/// this is the first, and the patches of the others begin at the same place.
struct PatchCorner {
  std::int64_t image = 0;
  std::int64_t top = 0;
  std::int64_t left = 0;
};

/// Fills one channel's planes; pixels outside of the image are 0.
template <class T>
void pack_planes(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t channel, const PatchGrid& grid,
                 T* planes);
/// The same for `channels` of them, whose planes follow each other; for images whose channels lie beside each other.
template <class T>
void pack_planes_of_channels(const CnnOperands<T>& layer, const PatchCorner& corner, std::int64_t first_channel,
                             std::int64_t channels, const PatchGrid& grid, T* planes);

}  // namespace tessera::cpu_tbb
