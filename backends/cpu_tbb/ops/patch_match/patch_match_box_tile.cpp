// Tiles of "box_sums": their memory, their voxels, their offsets.
#include "ops/patch_match/patch_match_box_tile.h"

#include <algorithm>
#include <new>

#include "mathematics/division.h"

namespace tessera::cpu_tbb {

namespace {

/// Places of a tile: lines of a few vectors, and planes of sums that fit into the first cache.
constexpr PerAxis kTile{64, 8, 8};
/// What the widest vectors read behind the end of what counts.
constexpr std::int64_t kBehind = 16;

/// The largest tile of a problem.
struct BoxShape {
  explicit BoxShape(const PatchMatch& problem) noexcept : g(problem), most(BoxTiles(problem).most) {}

  [[nodiscard]] static std::int64_t places(const mathematics::PatchAxis& axis, std::int64_t references) noexcept {
    return std::min((references - 1) * axis.step + 1, axis.places);
  }
  [[nodiscard]] std::int64_t x_places() const noexcept { return places(g.x, most.x); }
  [[nodiscard]] std::int64_t rows() const noexcept { return places(g.y, most.y) - 1 + g.y.patch; }
  [[nodiscard]] std::int64_t planes() const noexcept { return places(g.z, most.z) - 1 + g.z.patch; }
  [[nodiscard]] std::int64_t line() const noexcept { return x_places() + g.x.patch + 2 * kBehind; }
  [[nodiscard]] std::int64_t lines_of_references() const noexcept { return most.y * most.z; }
  [[nodiscard]] std::int64_t stacks() const noexcept { return x_places() * lines_of_references(); }
  [[nodiscard]] std::int64_t lines_of_sums() const noexcept { return 1 + rows() + most.y * planes(); }
  /// Voxels under the tile and its windows; in double, because a window may be as large as any volume.
  [[nodiscard]] double voxels() const noexcept {
    const auto reach = [](const mathematics::PatchAxis& axis, std::int64_t references) {
      return static_cast<double>(std::min(places(axis, references) + axis.window + axis.patch, axis.size));
    };
    return reach(g.x, most.x) * reach(g.y, most.y) * reach(g.z, most.z) + static_cast<double>(kBehind);
  }

  mathematics::PatchGeometry g;
  PerAxis most;
};

}  // namespace

bool sums_are_float(const PatchMatch& problem) noexcept {
  constexpr std::int64_t kExact = std::int64_t{1} << std::numeric_limits<float>::digits;
  return mathematics::largest_patch_distance(problem) <= kExact;
}

BoxTiles::BoxTiles(const PatchMatch& problem) noexcept : references(problem.references()) {
  const mathematics::PatchGeometry g(problem);
  const auto along = [](std::int64_t places, const mathematics::PatchAxis& axis) {
    return std::clamp<std::int64_t>(places / axis.step, 1, axis.references);
  };
  most = {along(kTile.x, g.x), along(kTile.y, g.y), along(kTile.z, g.z)};
  count = {mathematics::ceil_div(references.x, most.x), mathematics::ceil_div(references.y, most.y),
           mathematics::ceil_div(references.z, most.z)};
}

BoxPart BoxTiles::part(std::int64_t tile) const noexcept {
  const PerAxis number{tile % count.x, tile / count.x % count.y, tile / count.x / count.y};
  const PerAxis first{number.x * most.x, number.y * most.y, number.z * most.z};
  return {first,
          {std::min(first.x + most.x, references.x), std::min(first.y + most.y, references.y),
           std::min(first.z + most.z, references.z)}};
}

double box_tile_bytes(const PatchMatch& problem) noexcept {
  const BoxShape shape(problem);
  const auto stack_bytes = static_cast<double>(sizeof(PatchKeys) + sizeof(std::uint64_t) * problem.max_patches);
  const auto lines = static_cast<double>(shape.lines_of_sums() + shape.lines_of_references());
  return static_cast<double>(sizeof(std::int64_t) * (shape.most.y + shape.most.z)) +
         static_cast<double>(shape.stacks()) * stack_bytes +
         static_cast<double>(sizeof(double)) * (shape.voxels() + lines * static_cast<double>(shape.line()));
}

template <class T, class Sum>
BoxTileMemory<T, Sum>::BoxTileMemory(ScratchPool& pool, const PatchOperands<T>& match)
    : match_(match), loan_(pool, static_cast<std::size_t>(box_tile_bytes(match.problem))) {
  const BoxShape shape(match.problem);
  tile_.keys = reinterpret_cast<PatchKeys*>(loan_.data());
  keys_ = reinterpret_cast<std::uint64_t*>(tile_.keys + shape.stacks());
  y_ = reinterpret_cast<std::int64_t*>(keys_ + shape.stacks() * match.problem.max_patches);
  z_ = y_ + shape.most.y;
  tile_.limits = reinterpret_cast<Sum*>(z_ + shape.most.z);
  tile_.memory = tile_.limits + shape.lines_of_references() * shape.line();
  voxels_ = tile_.memory + shape.lines_of_sums() * shape.line();
  tile_.y = y_;
  tile_.z = z_;
  tile_.line = shape.line();
  tile_.rows = shape.rows();
  tile_.patch = match.problem.patch;
}

template <class T, class Sum>
void BoxTileMemory<T, Sum>::load(const BoxPart& part) noexcept {
  const mathematics::PatchGeometry& g = match_.geometry;
  const PatchMatch& p = match_.problem;
  part_ = part;
  place_ = {g.x.place(part.first.x), g.y.place(part.first.y), g.z.place(part.first.z)};
  tile_.references = {g.x.place(part.end.x - 1) - place_.x + 1, part.end.y - part.first.y, part.end.z - part.first.z};
  for (std::int64_t j = 0; j < tile_.references.y; ++j) y_[j] = g.y.place(part.first.y + j) - place_.y;
  for (std::int64_t k = 0; k < tile_.references.z; ++k) z_[k] = g.z.place(part.first.z + k) - place_.z;
  load_voxels();
  const auto unkept = static_cast<Sum>(first_unkept_distance<typename PatchOperands<T>::Distance>(p));
  const int bits = mathematics::patch_key_bits(p).number;
  for (std::int64_t line = 0; line < tile_.references.y * tile_.references.z; ++line) {
    Sum* const limits = tile_.limits + line * tile_.line;
    std::fill_n(limits, tile_.line, Sum(0));
    for (std::int64_t i = part.first.x; i < part.end.x; ++i) {
      const std::int64_t x = g.x.place(i) - place_.x;
      const std::int64_t stack = line * tile_.references.x + x;
      limits[x] = unkept;
      new (tile_.keys + stack) PatchKeys(keys_ + stack * p.max_patches, p.max_patches, bits);
    }
  }
}

template <class T, class Sum>
void BoxTileMemory<T, Sum>::load_voxels() noexcept {
  const mathematics::PatchGeometry& g = match_.geometry;
  const auto first = [](const mathematics::PatchAxis& axis, std::int64_t place) { return axis.first_candidate(place); };
  const auto end = [](const mathematics::PatchAxis& axis, std::int64_t last) {
    return axis.end_of_candidates(last) - 1 + axis.patch;
  };
  first_voxel_ = {first(g.x, place_.x), first(g.y, place_.y), first(g.z, place_.z)};
  voxel_count_ = {end(g.x, g.x.place(part_.end.x - 1)) - first_voxel_.x,
                  end(g.y, g.y.place(part_.end.y - 1)) - first_voxel_.y,
                  end(g.z, g.z.place(part_.end.z - 1)) - first_voxel_.z};
  Sum* to = voxels_;
  for (std::int64_t z = first_voxel_.z; z < first_voxel_.z + voxel_count_.z; ++z) {
    for (std::int64_t y = first_voxel_.y; y < first_voxel_.y + voxel_count_.y; ++y, to += voxel_count_.x) {
      const T* const from = match_.volume + (z * g.y.size + y) * g.x.size + first_voxel_.x;
      std::transform(from, from + voxel_count_.x, to, [](T voxel) { return static_cast<Sum>(voxel); });
    }
  }
  std::fill_n(to, kBehind, Sum(0));
  tile_.row = voxel_count_.x;
  tile_.plane = voxel_count_.x * voxel_count_.y;
  tile_.voxels = voxels_ + (place_.z - first_voxel_.z) * tile_.plane + (place_.y - first_voxel_.y) * tile_.row +
                 (place_.x - first_voxel_.x);
}

template <class T, class Sum>
void BoxTileMemory<T, Sum>::match() noexcept {
  const mathematics::PatchGeometry& g = match_.geometry;
  // Of references at these places, from the first whose candidate at this offset lies in the volume to behind the last.
  const auto range = [](const mathematics::PatchAxis& axis, std::int64_t count, std::int64_t offset, const auto& place,
                        std::int64_t& first, std::int64_t& end) {
    for (first = 0; first < count && place(first) + offset < 0;) ++first;
    for (end = count; end > first && place(end - 1) + offset >= axis.places;) --end;
    return first < end;
  };
  const auto x_at = [&](std::int64_t i) { return place_.x + i; };
  const auto y_at = [&](std::int64_t j) { return place_.y + y_[j]; };
  const auto z_at = [&](std::int64_t k) { return place_.z + z_[k]; };
  BoxOffset o;
  for (std::int64_t z = 0; z < g.z.window; ++z) {
    const std::int64_t oz = z - g.z.window / 2;
    if (!range(g.z, tile_.references.z, oz, z_at, o.first.z, o.end.z)) continue;
    for (std::int64_t y = 0; y < g.y.window; ++y) {
      const std::int64_t oy = y - g.y.window / 2;
      if (!range(g.y, tile_.references.y, oy, y_at, o.first.y, o.end.y)) continue;
      for (std::int64_t x = 0; x < g.x.window; ++x) {
        const std::int64_t ox = x - g.x.window / 2;
        if (!range(g.x, tile_.references.x, ox, x_at, o.first.x, o.end.x)) continue;
        o.shift = oz * tile_.plane + oy * tile_.row + ox;
        o.number = static_cast<std::uint64_t>((z * g.y.window + y) * g.x.window + x);
        if constexpr (std::is_same_v<T, float>) {
          add_offset(tile_, o);
        } else {
          add_integer_offset(tile_, o);
        }
      }
    }
  }
}

template <class T, class Sum>
void BoxTileMemory<T, Sum>::write() const noexcept {
  const mathematics::PatchGeometry& g = match_.geometry;
  for (std::int64_t k = part_.first.z; k < part_.end.z; ++k) {
    for (std::int64_t j = part_.first.y; j < part_.end.y; ++j) {
      const std::int64_t line = tile_.line_of(j - part_.first.y, k - part_.first.z);
      for (std::int64_t i = part_.first.x; i < part_.end.x; ++i) {
        const PerAxis at{g.x.place(i), g.y.place(j), g.z.place(k)};
        // Numbers are those of the whole window, whatever of it lies in the volume.
        const PatchCandidates window{{at.x - g.x.window / 2, at.y - g.y.window / 2, at.z - g.z.window / 2},
                                     {g.x.window, g.y.window, g.z.window}};
        write_stack(match_, (k * g.y.references + j) * g.x.references + i,
                    tile_.keys[line * tile_.references.x + at.x - place_.x], window);
      }
    }
  }
}

template class BoxTileMemory<std::uint8_t, float>;
template class BoxTileMemory<std::uint8_t, double>;
template class BoxTileMemory<std::uint16_t, float>;
template class BoxTileMemory<std::uint16_t, double>;
template class BoxTileMemory<float, float>;

}  // namespace tessera::cpu_tbb
