// Splitting and packing for the variant "split", and which of its sums are in doubt, by AVX-512, which every processor
// with AMX has: x = x1 + x2 + x3 in bfloat16, 8 bits each.
//
//     A packed step:  part 1 of rows 0-15, of rows 16-31, part 2 of both, part 3 of both; a row is 32 of k.
//     B packed step:  the same of columns; a row is a pair of k beside each other for 16 columns.
//
// While an operand passes, the ends of what its rows or columns hold are noted.
#include "ops/gemm/gemm_split_kernel.h"

#include <algorithm>

#include "cpu_tbb_tile_shapes.h"

#ifdef TESSERA_HAS_AMX_CODE
#include <immintrin.h>
#define TESSERA_WITH_AVX512 __attribute__((target("avx512f,avx512bw")))
#endif

namespace tessera::cpu_tbb {

void SplitExtents::clear() noexcept {
  std::fill_n(largest, kSplitTile, 0U);
  std::fill_n(smallest_less_1, kSplitTile, ~0U);
}

#ifdef TESSERA_HAS_AMX_CODE

// GCC 12 takes what its own header leaves undefined on purpose for a mistake of the caller's (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace {

constexpr std::int64_t kLanes = 16;

/// The upper halves of each lane are bfloat16.
struct Parts {
  __m512i part[kSplitParts];
};

/// Halves are rounded away from 0: what is left has no more than 8 bits next time either, and the last part is exact.
/// An infinity, a NaN or an overflow by rounding leaves one of the parts infinite or NaN.
TESSERA_WITH_AVX512 inline __attribute__((always_inline)) Parts parts_of(__m512 x) {
  const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  Parts parts;
  parts.part[0] = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), upper);
  x = _mm512_sub_ps(x, _mm512_castsi512_ps(parts.part[0]));
  parts.part[1] = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), upper);
  parts.part[2] = _mm512_castps_si512(_mm512_sub_ps(x, _mm512_castsi512_ps(parts.part[1])));
  return parts;
}

/// Lane by lane.
struct Extents {
  __m512i largest;
  __m512i smallest_less_1;
};
TESSERA_WITH_AVX512 inline __attribute__((always_inline)) void extend(Extents& extents, __m512 x) {
  const __m512i magnitude = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
  extents.largest = _mm512_max_epu32(extents.largest, magnitude);
  extents.smallest_less_1 =
      _mm512_min_epu32(extents.smallest_less_1, _mm512_sub_epi32(magnitude, _mm512_set1_epi32(1)));
}

/// The first lanes, as many as there are elements left.
TESSERA_WITH_AVX512 inline __attribute__((always_inline)) __mmask16 lanes_of(std::int64_t left) {
  return static_cast<__mmask16>(left >= kLanes ? 0xffff : left <= 0 ? 0 : (1U << left) - 1);
}

/// One row of A over its depth.
TESSERA_WITH_AVX512 void pack_row(const float* source, std::int64_t depth, std::byte* target, std::uint32_t& largest,
                                  std::uint32_t& smallest_less_1) {
  // The upper halves of 16 lanes and of 16 others.
  alignas(64) static constexpr std::uint16_t kUpperHalves[] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                               23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                               45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  const __m512i upper_halves = _mm512_load_si512(kUpperHalves);
  Extents extents{_mm512_set1_epi32(static_cast<int>(largest)), _mm512_set1_epi32(static_cast<int>(smallest_less_1))};
  for (std::int64_t p = 0; p < depth; p += kSplitStep, target += kSplitStepBytes) {
    const __m512 left = _mm512_maskz_loadu_ps(lanes_of(depth - p), source + p);
    const __m512 right = _mm512_maskz_loadu_ps(lanes_of(depth - p - kLanes), source + p + kLanes);
    extend(extents, left);
    extend(extents, right);
    const Parts left_parts = parts_of(left), right_parts = parts_of(right);
    for (int part = 0; part < kSplitParts; ++part) {
      _mm512_store_si512(target + part * kSplitPartBytes,
                         _mm512_permutex2var_epi16(left_parts.part[part], upper_halves, right_parts.part[part]));
    }
  }
  largest = _mm512_reduce_max_epu32(extents.largest);
  smallest_less_1 = _mm512_reduce_min_epu32(extents.smallest_less_1);
}

/// Two rows of B, or the last one alone, for 16 columns.
TESSERA_WITH_AVX512 inline __attribute__((always_inline)) void pack_pair(const float* upper, const float* lower,
                                                                         __mmask16 lanes, std::byte* target,
                                                                         std::uint32_t* largest,
                                                                         std::uint32_t* smallest_less_1) {
  const __m512 first = _mm512_maskz_loadu_ps(lanes, upper);
  const __m512 second = lower != nullptr ? _mm512_maskz_loadu_ps(lanes, lower) : _mm512_setzero_ps();
  Extents extents{_mm512_load_si512(largest), _mm512_load_si512(smallest_less_1)};
  extend(extents, first);
  extend(extents, second);
  _mm512_store_si512(largest, extents.largest);
  _mm512_store_si512(smallest_less_1, extents.smallest_less_1);
  const Parts first_parts = parts_of(first), second_parts = parts_of(second);
  const __m512i upper_half = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  for (int part = 0; part < kSplitParts; ++part) {
    // The last part of a tiny number may have bits below the upper half.
    const __m512i high = _mm512_and_si512(second_parts.part[part], upper_half);
    _mm512_store_si512(target + part * kSplitPartBytes,
                       _mm512_or_si512(high, _mm512_srli_epi32(first_parts.part[part], 16)));
  }
}

TESSERA_WITH_AVX512 void pack_slivers_of_pairs(const float* source, std::int64_t row_step, std::int64_t depth,
                                               std::int64_t columns, std::byte* slivers, SplitExtents* extents) {
  const std::int64_t steps = (depth + kSplitStep - 1) / kSplitStep;
  for (std::int64_t p = 0; p < steps * kSplitStep; p += 2) {
    const float* const upper = p < depth ? source + p * row_step : nullptr;
    const float* const lower = p + 1 < depth ? source + (p + 1) * row_step : nullptr;
    std::byte* row = slivers + p / kSplitStep * kSplitStepBytes + p % kSplitStep / 2 * kTileRowBytes;
    for (std::int64_t column = 0; column < columns; column += kSplitTile, row += steps * kSplitStepBytes) {
      SplitExtents& of = extents[column / kSplitTile];
      for (std::int64_t half = 0; half < 2; ++half) {
        const std::int64_t j = column + half * kLanes;
        const __mmask16 lanes = upper == nullptr ? __mmask16{0} : lanes_of(columns - j);
        const std::int64_t at = lanes == 0 ? 0 : j;
        pack_pair(upper == nullptr ? source : upper + at, lower == nullptr ? nullptr : lower + at, lanes,
                  row + half * kTileBytes, of.largest + half * kLanes, of.smallest_less_1 + half * kLanes);
      }
    }
  }
}

TESSERA_WITH_AVX512 bool find_doubts(const SplitSums& tile, const SplitExtents& rows, const SplitExtents& columns,
                                     std::uint32_t* doubts) {
  constexpr std::uint32_t kLeast = (127U - 40) << 23;  // bits of 2^-40
  const __m512i infinity = _mm512_set1_epi32(0x7f800000), magnitude = _mm512_set1_epi32(0x7fffffff);
  std::uint32_t any = 0;
  for (std::int64_t half = 0; half < 2; ++half) {
    const __m512i smallest = _mm512_load_si512(columns.smallest_less_1 + half * kLanes);
    const __mmask16 tiny_columns = _mm512_cmplt_epu32_mask(smallest, _mm512_set1_epi32(kLeast - 1));
    const __m512 scale = _mm512_set1_ps(24 * 0x1p-102F);
    const __m512 of_columns =
        _mm512_fmadd_ps(_mm512_load_ps(columns.largest + half * kLanes), scale, _mm512_set1_ps(84 * 0x1p-102F));
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      const __m512i sum = _mm512_and_si512(_mm512_loadu_si512(tile.sums + i * kSplitTile + half * kLanes), magnitude);
      const __m512 of_row = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(rows.largest[i])));
      const __m512 limit = _mm512_fmadd_ps(of_row, scale, of_columns);
      const __mmask16 tiny = rows.smallest_less_1[i] < kLeast - 1 ? __mmask16{0xffff} : tiny_columns;
      const __mmask16 found = lanes_of(tile.columns - half * kLanes) &
                              (_mm512_cmpge_epu32_mask(sum, infinity) |
                               _mm512_mask_cmp_ps_mask(tiny, _mm512_castsi512_ps(sum), limit, _CMP_NGE_UQ));
      doubts[i] = half == 0 ? found : doubts[i] | static_cast<std::uint32_t>(found) << kLanes;
      any |= found;
    }
  }
  return any != 0;
}

}  // namespace

void pack_split_rows(const float* source, std::int64_t row_step, std::int64_t rows, std::int64_t depth,
                     std::byte* panel, SplitExtents& extents) {
  for (std::int64_t row = 0; row < kSplitTile; ++row) {
    std::byte* const target = panel + row * kTileRowBytes;
    if (row < rows) {
      pack_row(source + row * row_step, depth, target, extents.largest[row], extents.smallest_less_1[row]);
      continue;
    }
    for (std::int64_t p = 0; p < depth; p += kSplitStep) {
      for (int part = 0; part < kSplitParts; ++part)
        std::fill_n(target + p / kSplitStep * kSplitStepBytes + part * kSplitPartBytes, kTileRowBytes, std::byte{0});
    }
  }
}
void pack_split_slivers(const float* source, std::int64_t row_step, std::int64_t depth, std::int64_t columns,
                        std::byte* slivers, SplitExtents* extents) {
  pack_slivers_of_pairs(source, row_step, depth, columns, slivers, extents);
}
bool find_split_doubts(const SplitSums& tile, const SplitExtents& rows, const SplitExtents& columns,
                       std::uint32_t* doubts) {
  return find_doubts(tile, rows, columns, doubts);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#else

// Never called: has_amx_bfloat16() is false.
void pack_split_rows(const float* /*source*/, std::int64_t /*row_step*/, std::int64_t /*rows*/, std::int64_t /*depth*/,
                     std::byte* /*panel*/, SplitExtents& /*extents*/) {}
void pack_split_slivers(const float* /*source*/, std::int64_t /*row_step*/, std::int64_t /*depth*/,
                        std::int64_t /*columns*/, std::byte* /*slivers*/, SplitExtents* /*extents*/) {}
bool find_split_doubts(const SplitSums& /*tile*/, const SplitExtents& /*rows*/, const SplitExtents& /*columns*/,
                       std::uint32_t* /*doubts*/) {
  return false;
}

#endif

}  // namespace tessera::cpu_tbb
