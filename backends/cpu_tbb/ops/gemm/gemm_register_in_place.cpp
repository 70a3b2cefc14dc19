// The register tile for a panel of A that is read where it lies: for few slivers of B packing the panel would take
// longer than it saves. Compiled once for every instruction set (Highway).
//
//     A as it is:   row 0  x x x x ...      each row a stream of its own, a_row_step apart
//                   row 1  x x x x ...
//     transposed:   p = 0  x x x x ...      the rows of a panel lie beside each other, one line of the cache for each p
//                   p = 1  x x x x ...
#include "ops/gemm/gemm_register_kernel.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_register_in_place.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "ops/gemm/gemm_register_tile.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_in_place {

template <class T, int... kRowsLessOne>
void multiply_any(const PanelProduct<T>& product, std::integer_sequence<int, kRowsLessOne...>) {
  using Function = void (*)(const PanelProduct<T>&);
  static constexpr Function kAsItIs[] = {multiply_rows<T, kRowsLessOne + 1, RowsOfA::in_place, RowsOfB::evenly>...};
  static constexpr Function kTransposed[] = {
      multiply_rows<T, kRowsLessOne + 1, RowsOfA::transposed, RowsOfB::evenly>...};
  (product.a_depth_step == 1 ? kAsItIs : kTransposed)[product.rows - 1](product);
}

void in_place_float32(const PanelProduct<float>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}
void in_place_float64(const PanelProduct<double>& product) {
  multiply_any(product, std::make_integer_sequence<int, kMostRows>());
}

}  // namespace gemm_register_in_place
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(in_place_float32);
HWY_EXPORT(in_place_float64);

template <>
void multiply_panel_in_place(const PanelProduct<float>& product) {
  HWY_DYNAMIC_DISPATCH(in_place_float32)(product);
}
template <>
void multiply_panel_in_place(const PanelProduct<double>& product) {
  HWY_DYNAMIC_DISPATCH(in_place_float64)(product);
}

}  // namespace tessera::cpu_tbb
#endif
