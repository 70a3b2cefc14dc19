// One reference against all its candidates, compiled once for every instruction set (Highway) and chosen when it runs.
//
//     row of the volume    a b c d e f g ...      A lane is a candidate: neighbours along x, which the same rows serve.
//     words of the row     ab bc cd de ...        The rows under the window are packed once for each reference: a word
//                          |  |  |  |             holds the two voxels that begin there (x86), so that one instruction
//     reference's word     rs rs rs rs            squares two differences and adds them, vpmaddwd. uint16 comes apart
//                          v  v  v  v             into low and high bytes, with three sums: low, mixed, high. Floats
//     sums of squares      .  .  .  .             are words as they are, and their sums are those of the definition.
//
// After each plane of the patch the sums of all lanes are compared with the last distance kept. Sums never fall, so
// where no lane is nearer the rest of the patch is left out. What is nearer at the end is put into the keys one by one.
#include "ops/patch_match/patch_match_packed_kernel.h"

#include <algorithm>
#include <bit>

#include "ops/patch_match/patch_match_packed_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/patch_match/patch_match_packed_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace patch_match_packed_kernel {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int32_t, static_cast<std::size_t>(PackedLayout::kMostLanes)>;
using Floats = hn::RebindToFloat<Words>;
using V = hn::VFromD<Words>;
using F = hn::VFromD<Floats>;

// Voxels in a word of integers. Elsewhere than on x86 the pairwise product gives its sums in another order of lanes.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
constexpr int kPair = 2;
#else
constexpr int kPair = 1;
#endif
template <class T>
constexpr int kInWord = std::is_same_v<T, float> ? 1 : kPair;

HWY_INLINE std::int64_t lanes() {
  return static_cast<std::int64_t>(hn::Lanes(Words()));
}

/// sum + the products of the numbers in two words, exact.
HWY_INLINE V add_products(V a, V b, V sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  const hn::Repartition<std::int16_t, Words> pairs;
  V unused = hn::Zero(Words());
  return hn::ReorderWidenMulAccumulate(Words(), hn::BitCast(pairs, a), hn::BitCast(pairs, b), sum, unused);
#else
  return hn::Add(sum, hn::Mul(a, b));
#endif
}

HWY_INLINE V difference(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  const hn::Repartition<std::int16_t, Words> pairs;
  return hn::BitCast(Words(), hn::Sub(hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
#else
  return hn::Sub(a, b);
#endif
}

/// Words that begin at voxels next to each other; kPart is 1 for the high bytes of 16 bits.
template <int kPart, class T>
HWY_INLINE V words_at(const T* from) {
  const hn::Rebind<T, Words> voxels;
  const auto number = [&](const T* at) {
    const V value = hn::PromoteTo(Words(), hn::LoadU(voxels, at));
    return kPart == 1 ? hn::ShiftRight<8>(value) : hn::And(value, hn::Set(Words(), 0xff));
  };
  return kPair == 2 ? hn::Or(number(from), hn::ShiftLeft<16>(number(from + 1))) : number(from);
}

/// Packs `length` words from a row; reads one voxel more than that.
template <class T>
HWY_INLINE void pack_row(const T* from, const PackedLayout& layout, std::int32_t* words) {
  for (std::int64_t i = 0; i < layout.length; i += lanes()) {
    if constexpr (std::is_same_v<T, float>) {
      hn::StoreU(hn::BitCast(Words(), hn::LoadU(Floats(), from + i)), Words(), words + i);
    } else {
      hn::StoreU(words_at<0>(from + i), Words(), words + i);
      if constexpr (std::is_same_v<T, std::uint16_t>)
        hn::StoreU(words_at<1>(from + i), Words(), words + layout.part + i);
    }
  }
}

/// The lanes before `count` in which a number is below the limit: is there one?
template <class D, class Limit>
HWY_INLINE bool is_any_below(D d, hn::VFromD<D> numbers, Limit limit, std::int64_t count) {
  const auto valid = hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  return !hn::AllFalse(d, hn::And(valid, hn::Lt(numbers, hn::Set(d, limit))));
}

/// The sums of a vector of candidates. `last` is what a word in which the patch ends is masked with.
template <class T>
struct PatchSums;

template <>
struct PatchSums<std::uint8_t> {
  HWY_INLINE void clear() { sum = hn::Zero(Words()); }
  HWY_INLINE void add(const std::int32_t* row, const std::int32_t* reference, const PackedLayout&, V mask) {
    const V apart = difference(hn::Set(Words(), *reference), hn::And(hn::LoadU(Words(), row), mask));
    sum = add_products(apart, apart, sum);
  }
  HWY_INLINE void end_row() {}
  HWY_INLINE void end_plane() {}
  HWY_INLINE bool is_nearer(std::int32_t limit, std::int64_t count) const {
    return is_any_below(Words(), sum, limit, count);
  }
  HWY_INLINE void store(std::int32_t* out) const { hn::StoreU(sum, Words(), out); }

  V sum;
};

template <>
struct PatchSums<std::uint16_t> {
#if HWY_TARGET == HWY_SCALAR
  using Wide = hn::Rebind<std::int64_t, Words>;
#else
  using Wide = hn::Repartition<std::int64_t, Words>;
#endif

  HWY_INLINE void clear() {
    low = mixed = high = hn::Zero(Words());
  }
  HWY_INLINE void add(const std::int32_t* row, const std::int32_t* reference, const PackedLayout& layout, V mask) {
    const V low_apart = difference(hn::Set(Words(), *reference), hn::And(hn::LoadU(Words(), row), mask));
    const V high_apart = difference(hn::Set(Words(), reference[layout.reference_part]),
                                    hn::And(hn::LoadU(Words(), row + layout.part), mask));
    low = add_products(low_apart, low_apart, low);
    mixed = add_products(low_apart, high_apart, mixed);
    high = add_products(high_apart, high_apart, high);
  }
  HWY_INLINE void end_row() {}
  HWY_INLINE void end_plane() {}
  /// (l + 256 h)^2 = l^2 + 512 l h + 65536 h^2
  template <class HalfOf>
  HWY_INLINE hn::VFromD<Wide> half(const HalfOf& half_of) const {
    const auto wide = [&](V sum) { return hn::PromoteTo(Wide(), half_of(sum)); };
    return hn::Add(wide(low), hn::Add(hn::ShiftLeft<9>(wide(mixed)), hn::ShiftLeft<16>(wide(high))));
  }
#if HWY_TARGET == HWY_SCALAR  // vectors of one lane have no halves
  HWY_INLINE bool is_nearer(std::int64_t limit, std::int64_t count) const {
    return is_any_below(Wide(), half([](V sum) { return sum; }), limit, count);
  }
  HWY_INLINE void store(std::int64_t* out) const {
    hn::StoreU(half([](V sum) { return sum; }), Wide(), out);
  }
#else
  HWY_INLINE hn::VFromD<Wide> lower() const {
    return half([](V sum) { return hn::LowerHalf(hn::Half<Words>(), sum); });
  }
  HWY_INLINE hn::VFromD<Wide> upper() const {
    return half([](V sum) { return hn::UpperHalf(hn::Half<Words>(), sum); });
  }
  HWY_INLINE bool is_nearer(std::int64_t limit, std::int64_t count) const {
    return is_any_below(Wide(), lower(), limit, count) || is_any_below(Wide(), upper(), limit, count - lanes() / 2);
  }
  HWY_INLINE void store(std::int64_t* out) const {
    hn::StoreU(lower(), Wide(), out);
    hn::StoreU(upper(), Wide(), out + lanes() / 2);
  }
#endif

  V low;
  V mixed;
  V high;
};

template <>
struct PatchSums<float> {
  HWY_INLINE void clear() { sum = of_plane = of_row = hn::Zero(Floats()); }
  HWY_INLINE void add(const std::int32_t* row, const std::int32_t* reference, const PackedLayout&, V) {
    const F apart =
        hn::Sub(hn::BitCast(Floats(), hn::Set(Words(), *reference)), hn::BitCast(Floats(), hn::LoadU(Words(), row)));
    of_row = hn::Add(of_row, hn::Mul(apart, apart));
  }
  HWY_INLINE void end_row() {
    of_plane = hn::Add(of_plane, of_row);
    of_row = hn::Zero(Floats());
  }
  HWY_INLINE void end_plane() {
    sum = hn::Add(sum, of_plane);
    of_plane = hn::Zero(Floats());
  }
  HWY_INLINE bool is_nearer(float limit, std::int64_t count) const { return is_any_below(Floats(), sum, limit, count); }
  HWY_INLINE void store(float* out) const { hn::StoreU(sum, Floats(), out); }

  F sum;
  F of_plane;
  F of_row;
};

/// One plane of the patch: `row` is where the first candidate's words begin. kWords is 0 where they are counted at run
/// time; of a word in which the patch ends, only the first voxel counts.
template <class T, int kWords>
HWY_INLINE void add_plane(PatchSums<T>& sums, const std::int32_t* row, const std::int32_t* reference,
                          const PackedLayout& layout) {
  const V all = hn::Set(Words(), -1);
  const std::int64_t whole = kWords > 0 ? kWords : layout.patch.x / kInWord<T>;
  for (std::int64_t j = 0; j < layout.patch.y; ++j, row += layout.length, reference += layout.words) {
    for (std::int64_t w = 0; w < whole; ++w) sums.add(row + w * kInWord<T>, reference + w, layout, all);
    if (kWords == 0 && whole * kInWord<T> < layout.patch.x)
      sums.add(row + whole * kInWord<T>, reference + whole, layout, hn::Set(Words(), 0xffff));
    sums.end_row();
  }
  sums.end_plane();
}

/// Offers the candidates of one vector, whose first has this number, and returns the limit from now on.
template <class Distance>
HWY_NOINLINE Distance offer(const Distance* found, std::int64_t first, std::int64_t count, Distance limit,
                            PatchKeys& keys) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!(found[i] < limit)) continue;
    keys.insert(distance_bits(found[i]), static_cast<std::uint64_t>(first + i));
    if (keys.is_full()) limit = distance_of_bits<Distance>(keys.last_distance());
  }
  return limit;
}

template <class T, int kWords>
void match_any(const PackedReference<T>& r, PatchKeys& keys) {
  const PackedLayout layout(r.candidates, r.patch, kInWord<T>);
  std::int32_t* const rows = reinterpret_cast<std::int32_t*>(r.memory);
  pack_rows(r, layout, rows, [&](const T* from, std::int32_t* words) { pack_row(from, layout, words); });
  std::int32_t* const reference = rows + 2 * layout.part;
  pack_reference(r, layout, kInWord<T>, reference);
  PackedDistance<T> found[PackedLayout::kMostLanes];
  PackedDistance<T> limit = r.first_unkept;
  std::int64_t number = 0;
  for (std::int64_t z = 0; z < r.candidates.z; ++z) {
    for (std::int64_t y = 0; y < r.candidates.y; ++y, number += r.candidates.x) {
      for (std::int64_t x = 0; x < r.candidates.x; x += lanes()) {
        const std::int64_t count = std::min(lanes(), r.candidates.x - x);
        PatchSums<T> sums;
        sums.clear();
        bool is_nearer = true;
        for (std::int64_t k = 0; k < r.patch.z && is_nearer; ++k) {
          add_plane<T, kWords>(sums, rows + layout.row(y, z + k) + x, reference + k * r.patch.y * layout.words, layout);
          is_nearer = sums.is_nearer(limit, count);
        }
        if (!is_nearer) continue;
        // Not the sums themselves: what a call is given by address does not stay in registers.
        sums.store(found);
        limit = offer(found, number + x, count, limit, keys);
      }
    }
  }
}

/// Patches of 4 voxels along x have code of their own.
template <class T>
HWY_INLINE void match(const PackedReference<T>& r, PatchKeys& keys) {
  constexpr int kUsual = 4;
  r.patch.x == kUsual ? match_any<T, kUsual / kInWord<T>>(r, keys) : match_any<T, 0>(r, keys);
}

void match_uint8(const PackedReference<std::uint8_t>& r, PatchKeys& keys) {
  match(r, keys);
}
void match_uint16(const PackedReference<std::uint16_t>& r, PatchKeys& keys) {
  match(r, keys);
}
void match_float(const PackedReference<float>& r, PatchKeys& keys) {
  match(r, keys);
}

}  // namespace patch_match_packed_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(match_uint8);
HWY_EXPORT(match_uint16);
HWY_EXPORT(match_float);

void match_packed(const PackedReference<std::uint8_t>& reference, PatchKeys& keys) {
  HWY_DYNAMIC_DISPATCH(match_uint8)(reference, keys);
}
void match_packed(const PackedReference<std::uint16_t>& reference, PatchKeys& keys) {
  HWY_DYNAMIC_DISPATCH(match_uint16)(reference, keys);
}
void match_packed(const PackedReference<float>& reference, PatchKeys& keys) {
  HWY_DYNAMIC_DISPATCH(match_float)(reference, keys);
}

}  // namespace tessera::cpu_tbb
#endif
