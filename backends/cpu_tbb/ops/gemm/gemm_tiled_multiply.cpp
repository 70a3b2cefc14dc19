// The multiplication of packed tiles, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen
// when it runs. For 4 rows and 2 vectors of columns the sums stay in 8 registers while p runs over the tile:
//
//                 b[p]   | vector 0 | vector 1 |        Per p: 2 loads of B and 4 broadcasts of A for 8
//   a[0][p] broadcast -> |  sum 00  |  sum 01  |        multiply-adds. 8 independent sums are what it takes to
//   a[1][p] broadcast -> |  sum 10  |  sum 11  |        hide a latency of 4 cycles at 2 multiply-adds a cycle,
//   a[2][p] broadcast -> |  sum 20  |  sum 21  |        and 8 sums, 2 columns and 1 broadcast fit into the 16
//   a[3][p] broadcast -> |  sum 30  |  sum 31  |        registers of AVX2.
//
// A tile narrower than two vectors takes one vector of columns, as wide as the tile.
#include "ops/gemm/gemm_tiled_multiply.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_tiled_multiply.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_tiled_multiply {

namespace hn = hwy::HWY_NAMESPACE;

/// 4 rows x 2 vectors. `a`, `b` and `sums` point to the block's first row, column and sum.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_two_vectors(D d, const TileProduct<T>& product, const T* HWY_RESTRICT a,
                                     const T* HWY_RESTRICT b, T* HWY_RESTRICT sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  T* const row0 = sums;
  T* const row1 = row0 + product.sums_row_step;
  T* const row2 = row1 + product.sums_row_step;
  T* const row3 = row2 + product.sums_row_step;
  auto sum00 = hn::Load(d, row0);
  auto sum01 = hn::Load(d, row0 + lanes);
  auto sum10 = hn::Load(d, row1);
  auto sum11 = hn::Load(d, row1 + lanes);
  auto sum20 = hn::Load(d, row2);
  auto sum21 = hn::Load(d, row2 + lanes);
  auto sum30 = hn::Load(d, row3);
  auto sum31 = hn::Load(d, row3 + lanes);
  for (std::int64_t p = 0; p < product.depth; ++p) {
    const auto b0 = hn::Load(d, b);
    const auto b1 = hn::Load(d, b + lanes);
    const auto a0 = hn::Set(d, a[0]);
    sum00 = hn::MulAdd(a0, b0, sum00);
    sum01 = hn::MulAdd(a0, b1, sum01);
    const auto a1 = hn::Set(d, a[product.a_row_step]);
    sum10 = hn::MulAdd(a1, b0, sum10);
    sum11 = hn::MulAdd(a1, b1, sum11);
    const auto a2 = hn::Set(d, a[2 * product.a_row_step]);
    sum20 = hn::MulAdd(a2, b0, sum20);
    sum21 = hn::MulAdd(a2, b1, sum21);
    const auto a3 = hn::Set(d, a[3 * product.a_row_step]);
    sum30 = hn::MulAdd(a3, b0, sum30);
    sum31 = hn::MulAdd(a3, b1, sum31);
    a += product.a_depth_step;
    b += product.tile;
  }
  hn::Store(sum00, d, row0);
  hn::Store(sum01, d, row0 + lanes);
  hn::Store(sum10, d, row1);
  hn::Store(sum11, d, row1 + lanes);
  hn::Store(sum20, d, row2);
  hn::Store(sum21, d, row2 + lanes);
  hn::Store(sum30, d, row3);
  hn::Store(sum31, d, row3 + lanes);
}

/// 4 rows x 1 vector.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_one_vector(D d, const TileProduct<T>& product, const T* HWY_RESTRICT a,
                                    const T* HWY_RESTRICT b, T* HWY_RESTRICT sums) {
  T* const row0 = sums;
  T* const row1 = row0 + product.sums_row_step;
  T* const row2 = row1 + product.sums_row_step;
  T* const row3 = row2 + product.sums_row_step;
  auto sum0 = hn::Load(d, row0);
  auto sum1 = hn::Load(d, row1);
  auto sum2 = hn::Load(d, row2);
  auto sum3 = hn::Load(d, row3);
  for (std::int64_t p = 0; p < product.depth; ++p) {
    const auto b0 = hn::Load(d, b);
    sum0 = hn::MulAdd(hn::Set(d, a[0]), b0, sum0);
    sum1 = hn::MulAdd(hn::Set(d, a[product.a_row_step]), b0, sum1);
    sum2 = hn::MulAdd(hn::Set(d, a[2 * product.a_row_step]), b0, sum2);
    sum3 = hn::MulAdd(hn::Set(d, a[3 * product.a_row_step]), b0, sum3);
    a += product.a_depth_step;
    b += product.tile;
  }
  hn::Store(sum0, d, row0);
  hn::Store(sum1, d, row1);
  hn::Store(sum2, d, row2);
  hn::Store(sum3, d, row3);
}

/// Vectors are no wider than a tile, so that they never straddle two.
template <class T, std::size_t kTile>
void multiply_with(const TileProduct<T>& product) {
  const hn::CappedTag<T, kTile> d;
  constexpr auto tile = static_cast<std::int64_t>(kTile);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool two_vectors = 2 * lanes <= tile;
  for (std::int64_t column = 0; column < product.columns; column += tile) {
    const T* const b = product.b + column * tile;
    for (std::int64_t row = 0; row < product.rows; row += kRowGroup) {
      const T* const a = product.a + row * product.a_row_step;
      T* const sums = product.sums + row * product.sums_row_step + column;
      if (two_vectors) {
        for (std::int64_t lane = 0; lane < tile; lane += 2 * lanes)
          multiply_two_vectors(d, product, a, b + lane, sums + lane);
      } else {
        multiply_one_vector(d, product, a, b, sums);
      }
    }
  }
}

template <class T>
void multiply_any(const TileProduct<T>& product) {
  switch (product.tile) {
    case 4: return multiply_with<T, 4>(product);
    case 8: return multiply_with<T, 8>(product);
    case 16: return multiply_with<T, 16>(product);
    default: return multiply_with<T, 32>(product);
  }
}

void multiply_float32(const TileProduct<float>& product) {
  multiply_any(product);
}
void multiply_float64(const TileProduct<double>& product) {
  multiply_any(product);
}

}  // namespace gemm_tiled_multiply
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(multiply_float32);
HWY_EXPORT(multiply_float64);

void multiply_tiles(const TileProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float32)(product);
}
void multiply_tiles(const TileProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float64)(product);
}

}  // namespace tessera::cpu_tbb
#endif
