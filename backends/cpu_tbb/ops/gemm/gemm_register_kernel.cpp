// The register tile, compiled once for every instruction set from SSE to AVX-512 (Highway) and chosen when it runs:
//
//                         b[p]   | vector 0 | vector 1 |     One call multiplies a panel of A with all slivers of B;
//    A panel, 1 KiB a row        +----------+----------+     one tile is kRows x 2 vectors of sums that stay in
//    +------- p -------+ row 0   | sum 0,0  | sum 0,1  |     registers while p runs over the depth. Per p: 2 loads of
//    | broadcast a[0][p] |  1    | sum 1,0  | sum 1,1  |     B and a broadcast of A for each row and 2 multiply-adds.
//    | broadcast a[1][p] |  ..   |   ...    |   ...    |
//    +-----------------+ kRows-1 |          |          |     AVX-512: 14 rows = 28 sums + 2 of B + 1 of A of 32
//                                                            registers. AVX2: 6 rows = 12 + 2 + 1 of 16. SSE has no
//    fused multiply-add and needs a register more: 4 rows.
//
// The panel of A lies in the first-level cache for the whole call. A sliver of B comes from the second: 128 bytes for
// 28 multiply-adds of 512 bits, which a Zen 4 core runs at one a cycle and a Sapphire Rapids core at two.
//
// The first panel of a block reads B where it is and leaves a packed copy for the other panels. The copy is nearly
// free: it adds two stores to every 14 cycles, in which a core could make 14, and B's way from memory is hidden behind
// the products.
//
// There is a tile for each number of rows up to kRows, so that the last panel of C computes no rows that do not exist.
// At the right edge the tile is one vector wide where that suffices. AVX-512 reads and writes the columns that exist
// and no others, and computes half a vector where that is enough. Without it the tile is written to a buffer first, and
// from there to the columns of C that exist.
#include "ops/gemm/gemm_register_kernel.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_register_kernel.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/gemm/gemm_register_tile.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_kernel {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, int... kRowsLessOne>
void multiply_any(const PanelProduct<T>& product, std::integer_sequence<int, kRowsLessOne...>) {
  using Function = void (*)(const PanelProduct<T>&);
  static constexpr Function kMultiply[] = {multiply_rows<T, kRowsLessOne + 1, RowsOfA::packed, RowsOfB::evenly>...};
  static constexpr Function kMultiplyAndPack[] = {
      multiply_rows<T, kRowsLessOne + 1, RowsOfA::packed, RowsOfB::evenly_and_packed>...};
  static constexpr Function kMultiplyByOffsets[] = {
      multiply_rows<T, kRowsLessOne + 1, RowsOfA::packed, RowsOfB::by_offsets>...};
  const Function* const functions = product.b_offsets != nullptr ? kMultiplyByOffsets
                                    : product.packed != nullptr  ? kMultiplyAndPack
                                                                 : kMultiply;
  functions[product.rows - 1](product);
}

void multiply_float32(const PanelProduct<float>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}
void multiply_float64(const PanelProduct<double>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}

RegisterTile tile_float32() {
  return {kMostRows, 2 * static_cast<std::int64_t>(hn::Lanes(Vector<float>())), kMasks};
}
RegisterTile tile_float64() {
  return {kMostRows, 2 * static_cast<std::int64_t>(hn::Lanes(Vector<double>())), kMasks};
}

}  // namespace gemm_register_kernel
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(multiply_float32);
HWY_EXPORT(multiply_float64);
HWY_EXPORT(tile_float32);
HWY_EXPORT(tile_float64);

template <>
void multiply_panel(const PanelProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float32)(product);
}
template <>
void multiply_panel(const PanelProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(multiply_float64)(product);
}
template <>
RegisterTile register_tile<float>() {
  return HWY_DYNAMIC_DISPATCH(tile_float32)();
}
template <>
RegisterTile register_tile<double>() {
  return HWY_DYNAMIC_DISPATCH(tile_float64)();
}

}  // namespace tessera::cpu_tbb
#endif
