// All voxels of a tile at one offset, compiled once for every instruction set (Highway) and chosen when it runs.
//
//     voxel and candidate's    square     sums along x    sums along y    sums along z: distances
//     +-----------+            +------+   +------+        +------+        +------+
//     | rows of a |    ->      | line | ->| rows |   ->   | rows |  ...   | line | -> steps -> weights, gathered from
//     |  plane    |            +------+   | of a |        | of   |        +------+    the table -> sums of 64 bits
//     +-----------+                       | plane|        | all  |
//                                         +------+        | planes
//                                                         +------+
//
// Neighbours share their sums: of a patch of 7 x 7 a distance takes a square and 12 additions, not 49 of both. Sums are
// exact, so that their order does not matter. The lines of a tile stay in the caches.
#include "ops/nonlocal_means/nonlocal_means_box_kernel.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nonlocal_means/nonlocal_means_box_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace nonlocal_means_box_kernel {

namespace hn = hwy::HWY_NAMESPACE;

template <class Sum>
using MeansLane = hn::CappedTag<Sum, 64 / sizeof(Sum)>;

/// The squares of differences of two lines, over all channels.
template <class Sum>
HWY_INLINE void square_means(const MeansTile<Sum>& tile, const std::int32_t* HWY_RESTRICT a,
                             const std::int32_t* HWY_RESTRICT b, std::int64_t first, std::int64_t end,
                             Sum* HWY_RESTRICT out) {
  const MeansLane<Sum> d;
  const hn::Rebind<std::int32_t, MeansLane<Sum>> whole;
  for (std::int64_t x = first; x < end; x += static_cast<std::int64_t>(hn::Lanes(d))) {
    auto sum = hn::Zero(d);
    for (std::int64_t i = x; i < x + tile.channels * tile.channel; i += tile.channel) {
      const auto difference = hn::Sub(hn::LoadU(whole, a + i), hn::LoadU(whole, b + i));
      if constexpr (std::is_same_v<Sum, double>) {
        const auto apart = hn::PromoteTo(d, difference);
        sum = hn::Add(sum, hn::Mul(apart, apart));
      } else {
        sum = hn::Add(sum, hn::Mul(difference, difference));
      }
    }
    hn::StoreU(sum, d, out + x);
  }
}

/// out[x] = the sum of `terms` numbers, from[x], from[x + apart] and so on.
template <class Sum>
HWY_INLINE void add_up_means(const Sum* HWY_RESTRICT from, std::int64_t apart, std::int64_t terms, std::int64_t first,
                             std::int64_t end, Sum* HWY_RESTRICT out) {
  const MeansLane<Sum> d;
  for (std::int64_t x = first; x < end; x += static_cast<std::int64_t>(hn::Lanes(d))) {
    auto sum = hn::LoadU(d, from + x);
    for (std::int64_t i = 1; i < terms; ++i) sum = hn::Add(sum, hn::LoadU(d, from + x + i * apart));
    hn::StoreU(sum, d, out + x);
  }
}

/// The products of numbers of 32 bits in lanes of 64.
template <class D>
HWY_INLINE hn::Vec<D> multiply_whole(D d, hn::Vec<D> a, hn::Vec<D> b) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  return hn::Mul(a, b);
#else
  const hn::Repartition<std::int32_t, D> halves;  // of which the lower ones are the numbers
  return hn::BitCast(d, hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b)));
#endif
}

/// Adds the candidates of a line of voxels, whose distances are `sums` added up along z.
template <class Sum>
HWY_INLINE void weigh_line(const MeansTile<Sum>& tile, const MeansOffset& offset, const Sum* HWY_RESTRICT sums,
                           const std::int32_t* HWY_RESTRICT candidates, std::int64_t* HWY_RESTRICT to) {
  using Wide = hn::CappedTag<std::int64_t, 8>;
  const Wide wide;
  const hn::Rebind<std::int32_t, Wide> whole;
  const hn::Rebind<float, Wide> real;
  const hn::Rebind<Sum, Wide> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  for (std::int64_t x = offset.first.x; x < offset.end.x; x += lanes) {
    auto distance = hn::LoadU(d, sums + x);
    for (std::int64_t i = 1; i < tile.patch.z; ++i)
      distance = hn::Add(distance, hn::LoadU(d, sums + x + i * tile.count.y * tile.line));
    auto above = hn::Max(hn::Sub(distance, hn::Set(d, tile.noise)), hn::Zero(d));
    auto steps = hn::Zero(real);
    if constexpr (std::is_same_v<Sum, double>) {
      // Beyond all steps, however small one is.
      above = hn::IfThenElse(hn::Gt(distance, hn::Set(d, tile.reach)), hn::Set(d, 0x1p100), above);
      steps = hn::DemoteTo(real, above);
    } else {
      steps = hn::ConvertTo(real, above);
    }
    steps = hn::Mul(steps, hn::Set(real, tile.steps));
    const auto valid = hn::FirstN(real, static_cast<std::size_t>(offset.end.x - x));
    const auto counts = hn::And(valid, hn::Lt(steps, hn::Set(real, tile.table_end)));
    if (hn::AllFalse(real, counts)) continue;
    const auto is_weighed = hn::RebindMask(whole, counts);
    const auto entry = hn::ConvertTo(whole, hn::IfThenElseZero(counts, steps));
    const auto weight = hn::PromoteTo(wide, hn::IfThenElseZero(is_weighed, hn::GatherIndex(whole, tile.table, entry)));
    hn::StoreU(hn::Add(hn::LoadU(wide, to + x), weight), wide, to + x);
    for (std::int64_t channel = 0; channel < tile.channels; ++channel) {
      std::int64_t* const sum = to + (channel + 1) * tile.lines() * tile.line + x;
      const auto voxel = hn::PromoteTo(wide, hn::LoadU(whole, candidates + channel * tile.channel + x));
      hn::StoreU(hn::Add(hn::LoadU(wide, sum), multiply_whole(wide, weight, voxel)), wide, sum);
    }
  }
}

template <class Sum>
HWY_INLINE void add_any_offset(const MeansTile<Sum>& tile, const MeansOffset& o) {
  Sum* const squares = tile.memory;
  Sum* const along_x = squares + tile.line;
  Sum* const along_y = along_x + tile.rows * tile.line;
  for (std::int64_t z = o.first.z; z < o.end.z + tile.patch.z - 1; ++z) {
    for (std::int64_t y = o.first.y; y < o.end.y + tile.patch.y - 1; ++y) {
      const std::int32_t* const voxels = tile.voxels + z * tile.plane + y * tile.row;
      square_means(tile, voxels, voxels + o.shift, o.first.x, o.end.x + tile.patch.x - 1, squares);
      add_up_means(squares, 1, tile.patch.x, o.first.x, o.end.x, along_x + y * tile.line);
    }
    for (std::int64_t y = o.first.y; y < o.end.y; ++y)
      add_up_means(along_x + y * tile.line, tile.line, tile.patch.y, o.first.x, o.end.x,
                   along_y + (z * tile.count.y + y) * tile.line);
  }
  for (std::int64_t z = o.first.z; z < o.end.z; ++z) {
    for (std::int64_t y = o.first.y; y < o.end.y; ++y) {
      const std::int64_t line = (z * tile.count.y + y) * tile.line;
      weigh_line(tile, o, along_y + line, tile.voxels + z * tile.plane + y * tile.row + o.shift + tile.middle,
                 tile.sums + line);
    }
  }
}

void add_means_of_bytes(const MeansTile<std::int32_t>& tile, const MeansOffset& offset) {
  add_any_offset(tile, offset);
}
void add_means_of_others(const MeansTile<double>& tile, const MeansOffset& offset) {
  add_any_offset(tile, offset);
}

}  // namespace nonlocal_means_box_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(add_means_of_bytes);
HWY_EXPORT(add_means_of_others);

void add_means_offset(const MeansTile<std::int32_t>& tile, const MeansOffset& offset) {
  HWY_DYNAMIC_DISPATCH(add_means_of_bytes)(tile, offset);
}
void add_means_offset(const MeansTile<double>& tile, const MeansOffset& offset) {
  HWY_DYNAMIC_DISPATCH(add_means_of_others)(tile, offset);
}

}  // namespace tessera::cpu_tbb
#endif
