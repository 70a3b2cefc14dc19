// All references of a tile at one offset, compiled once for every instruction set (Highway) and chosen when it runs.
//
//     voxel and candidate's    square     sums along x    sums along y    sums along z: distances
//     +-----------+            +------+   +------+        +------+        +------+
//     | rows of a |    ->      | line | ->| rows |   ->   | rows |  ...   | line |  -> those below the limit of their
//     |  plane    |            +------+   | of a |        | of   |        +------+     reference go into its keys
//     +-----------+                       | plane|        | all  |
//                                         +------+        | planes
//                                                         +------+
//
// Neighbours share their sums along x, and what is summed along y: of a patch of 4 x 4 x 4 a distance takes a square
// and 9 additions, not 64 of both. Each sum has its terms in the order of the definition, so that floats get the same
// bits. The lines of a tile stay in the first cache, its keys in the second.
#include "ops/patch_match/patch_match_box_kernel.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/patch_match/patch_match_box_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace patch_match_box_kernel {

namespace hn = hwy::HWY_NAMESPACE;

template <class Sum>
using Lane = hn::CappedTag<Sum, 16>;

/// out[x] = the sum of `terms` numbers, from[x], from[x + apart] and so on, for x from `first` up to `end`.
template <class Sum>
HWY_INLINE void add_up(const Sum* HWY_RESTRICT from, std::int64_t apart, std::int64_t terms, std::int64_t first,
                       std::int64_t end, Sum* HWY_RESTRICT out) {
  const Lane<Sum> d;
  for (std::int64_t x = first; x < end; x += static_cast<std::int64_t>(hn::Lanes(d))) {
    auto sum = hn::LoadU(d, from + x);
    for (std::int64_t i = 1; i < terms; ++i) sum = hn::Add(sum, hn::LoadU(d, from + x + i * apart));
    hn::StoreU(sum, d, out + x);
  }
}

template <class Sum>
HWY_INLINE void square(const Sum* HWY_RESTRICT a, const Sum* HWY_RESTRICT b, std::int64_t first, std::int64_t end,
                       Sum* HWY_RESTRICT out) {
  const Lane<Sum> d;
  for (std::int64_t x = first; x < end; x += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto apart = hn::Sub(hn::LoadU(d, a + x), hn::LoadU(d, b + x));
    hn::StoreU(hn::Mul(apart, apart), d, out + x);
  }
}

/// A key's half of a sum, and back. Of integers it is their value, not the bits of the type that they are summed in.
template <bool kIsInteger, class Sum>
HWY_INLINE std::uint64_t half_of_key(Sum sum) {
  return kIsInteger ? static_cast<std::uint64_t>(sum) : distance_bits(sum);
}
template <bool kIsInteger, class Sum>
HWY_INLINE Sum limit_of(std::uint64_t half) {
  return kIsInteger ? static_cast<Sum>(half) : distance_of_bits<Sum>(half);
}

/// Offers the distances of a line of references, of which `sums` are to be added up along z.
template <bool kIsInteger, class Sum>
HWY_INLINE void offer_line(const BoxTile<Sum>& tile, const BoxOffset& offset, const Sum* HWY_RESTRICT sums,
                           std::int64_t apart, Sum* HWY_RESTRICT limits, PatchKeys* keys) {
  const Lane<Sum> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t x = offset.first.x; x < offset.end.x; x += lanes) {
    auto sum = hn::LoadU(d, sums + x);
    for (std::int64_t i = 1; i < tile.patch.z; ++i) sum = hn::Add(sum, hn::LoadU(d, sums + x + i * apart));
    const std::int64_t count = std::min(lanes, offset.end.x - x);
    const auto valid = hn::FirstN(d, static_cast<std::size_t>(count));
    if (hn::AllFalse(d, hn::And(valid, hn::Lt(sum, hn::LoadU(d, limits + x))))) continue;
    Sum found[16];
    hn::StoreU(sum, d, found);
    for (std::int64_t i = 0; i < count; ++i) {
      if (!(found[i] < limits[x + i])) continue;
      PatchKeys& stack = keys[x + i];
      stack.insert(half_of_key<kIsInteger>(found[i]), offset.number);
      if (stack.is_full()) limits[x + i] = limit_of<kIsInteger, Sum>(stack.last_distance());
    }
  }
}

template <bool kIsInteger, class Sum>
HWY_INLINE void add_any_offset(const BoxTile<Sum>& tile, const BoxOffset& o) {
  Sum* const squares = tile.memory;
  Sum* const along_x = squares + tile.line;
  Sum* const along_y = along_x + tile.rows * tile.line;
  const std::int64_t first_row = tile.y[o.first.y];
  const std::int64_t end_row = tile.y[o.end.y - 1] + tile.patch.y;
  for (std::int64_t z = tile.z[o.first.z]; z < tile.z[o.end.z - 1] + tile.patch.z; ++z) {
    for (std::int64_t y = first_row; y < end_row; ++y) {
      const Sum* const voxels = tile.voxels + z * tile.plane + y * tile.row;
      square(voxels, voxels + o.shift, o.first.x, o.end.x + tile.patch.x - 1, squares);
      add_up(squares, 1, tile.patch.x, o.first.x, o.end.x, along_x + y * tile.line);
    }
    for (std::int64_t j = o.first.y; j < o.end.y; ++j) {
      add_up(along_x + tile.y[j] * tile.line, tile.line, tile.patch.y, o.first.x, o.end.x,
             along_y + tile.line_of(j, z) * tile.line);
    }
  }
  for (std::int64_t k = o.first.z; k < o.end.z; ++k) {
    for (std::int64_t j = o.first.y; j < o.end.y; ++j) {
      const std::int64_t line = tile.line_of(j, k);
      offer_line<kIsInteger>(tile, o, along_y + tile.line_of(j, tile.z[k]) * tile.line, tile.line_of(0, 1) * tile.line,
                             tile.limits + line * tile.line, tile.keys + line * tile.references.x);
    }
  }
}

void add_floats(const BoxTile<float>& tile, const BoxOffset& offset) {
  add_any_offset<false>(tile, offset);
}
void add_short_integers(const BoxTile<float>& tile, const BoxOffset& offset) {
  add_any_offset<true>(tile, offset);
}
void add_long_integers(const BoxTile<double>& tile, const BoxOffset& offset) {
  add_any_offset<true>(tile, offset);
}

}  // namespace patch_match_box_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_short_integers);
HWY_EXPORT(add_long_integers);

void add_offset(const BoxTile<float>& tile, const BoxOffset& offset) {
  HWY_DYNAMIC_DISPATCH(add_floats)(tile, offset);
}
void add_integer_offset(const BoxTile<float>& tile, const BoxOffset& offset) {
  HWY_DYNAMIC_DISPATCH(add_short_integers)(tile, offset);
}
void add_integer_offset(const BoxTile<double>& tile, const BoxOffset& offset) {
  HWY_DYNAMIC_DISPATCH(add_long_integers)(tile, offset);
}

}  // namespace tessera::cpu_tbb
#endif
