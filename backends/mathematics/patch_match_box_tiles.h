// patch_match's box sums on a device with groups: how references are cut into tiles, one for each group, whose sums fit
// into its local memory.
//
//   local memory, lines of most[0] places     | sums along x: rows of the planes at once |
//                                             | and along y: references of all planes    |
//                                             | limits: references                       |
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "mathematics/division.h"
#include "mathematics/patch_match_geometry.h"

namespace tessera::mathematics {

/// What a device gives a tile.
struct PatchBoxRoom {
  std::array<std::int64_t, 3> most{32, 8, 8};  ///< places along x, references along y and z
  std::int64_t lanes = 4;                      ///< neighbours along x that are summed at a time
  bool plane_by_plane = false;                 ///< else sums along x of all planes are kept at once
  std::int64_t sum_bytes = 4;
  std::uint64_t bytes = 0;
};

class PatchBoxTiles {
 public:
  /// Where memory is short, tiles are flatter than the room says; is_too_large() where the least of them is too much.
  PatchBoxTiles(const PatchMatch& problem, const PatchBoxRoom& room) noexcept : g_(problem), room_(room) {
    std::array<std::int64_t, 3> along = room.most;
    cut(along);
    while (is_too_large()) {
      if (along[2] > 1 && along[2] >= along[1]) {
        along[2] /= 2;
      } else if (along[1] > 1) {
        along[1] /= 2;
      } else if (along[0] > room.lanes) {
        along[0] = std::max(along[0] / 2, room.lanes);
      } else {
        return;
      }
      cut(along);
    }
  }

  [[nodiscard]] bool is_too_large() const noexcept { return bytes() > static_cast<double>(room_.bytes); }
  /// Of local memory.
  [[nodiscard]] double bytes() const noexcept {
    const auto y = static_cast<double>(most_[1]);
    const double rows_kept = static_cast<double>(planes_at_once()) * static_cast<double>(rows());
    const double lines = rows_kept + y * static_cast<double>(planes()) + y * static_cast<double>(most_[2]);
    return lines * static_cast<double>(most_[0] * room_.sum_bytes);
  }
  [[nodiscard]] double tiles() const noexcept {
    return static_cast<double>(count_[0]) * static_cast<double>(count_[1]) * static_cast<double>(count_[2]);
  }
  /// Tiles along an axis.
  [[nodiscard]] std::int64_t count(int axis) const noexcept { return count_[static_cast<std::size_t>(axis)]; }
  /// Of the largest tile: places along x, whole lanes, or references.
  [[nodiscard]] std::int64_t most(int axis) const noexcept { return most_[static_cast<std::size_t>(axis)]; }
  /// Voxels that its references reach along y and z.
  [[nodiscard]] std::int64_t rows() const noexcept { return reach(g_.y, most_[1]); }
  [[nodiscard]] std::int64_t planes() const noexcept { return reach(g_.z, most_[2]); }
  [[nodiscard]] std::int64_t planes_at_once() const noexcept { return room_.plane_by_plane ? 1 : planes(); }

 private:
  static std::int64_t reach(const PatchAxis& axis, std::int64_t references) noexcept {
    return std::min((references - 1) * axis.step, axis.places - 1) + axis.patch;
  }
  void cut(const std::array<std::int64_t, 3>& along) noexcept {
    const std::int64_t places = g_.x.place(g_.x.references - 1) - g_.x.place(0) + 1;
    const std::int64_t tiles = ceil_div(places, along[0]);
    most_ = {round_up(ceil_div(places, tiles), room_.lanes), std::min(along[1], g_.y.references),
             std::min(along[2], g_.z.references)};
    count_ = {ceil_div(places, most_[0]), ceil_div(g_.y.references, most_[1]), ceil_div(g_.z.references, most_[2])};
  }

  PatchGeometry g_;
  PatchBoxRoom room_;
  std::array<std::int64_t, 3> most_{};
  std::array<std::int64_t, 3> count_{};
};

}  // namespace tessera::mathematics
