// Packing, compiled once for every instruction set. An operand whose rows lie in memory as they are read is copied in
// vectors, row after row, so that the source is read in long runs:
//
//     B row p   [ sliver 0 | sliver 1 | sliver 2 |.. ]      sliver 0: row 0, row 1, ...   sliver 1: row 0, row 1, ...
//
// A transposed one is turned in blocks of 4 x 4 floats or 2 x 2 doubles in 128-bit registers. Whole slivers of a B
// whose rows lie as they are read are not packed here: the kernel leaves their copy (gemm_register_kernel.cpp).
#include "ops/gemm/gemm_register_pack.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gemm/gemm_register_pack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::cpu_tbb::HWY_NAMESPACE {
inline namespace gemm_register_pack {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void copy_row(const T* HWY_RESTRICT source, std::int64_t count, T* HWY_RESTRICT target) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, source + i), d, target + i);
#if HWY_TARGET <= HWY_AVX3
  if (i == count) return;
  const auto left = hn::FirstN(d, static_cast<std::size_t>(count - i));
  hn::BlendedStore(hn::MaskedLoad(left, d, source + i), left, d, target + i);
#else
  for (; i < count; ++i) target[i] = source[i];
#endif
}

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr std::int64_t kTurned = 1;
template <class T>
HWY_INLINE void turn_block(const T* source, std::int64_t, T* target, std::int64_t) {
  *target = *source;
}
#else
/// Side of the square that is turned in registers.
template <class T>
inline constexpr std::int64_t kTurned = 16 / sizeof(T);

/// target[row * target_step + column] = source[column * source_step + row] for a square of kTurned.
HWY_INLINE void turn_block(const float* HWY_RESTRICT source, std::int64_t source_step, float* HWY_RESTRICT target,
                           std::int64_t target_step) {
  const hn::FixedTag<float, 4> d;
  const auto column0 = hn::LoadU(d, source);
  const auto column1 = hn::LoadU(d, source + source_step);
  const auto column2 = hn::LoadU(d, source + 2 * source_step);
  const auto column3 = hn::LoadU(d, source + 3 * source_step);
  const auto low02 = hn::InterleaveLower(d, column0, column2);
  const auto low13 = hn::InterleaveLower(d, column1, column3);
  const auto high02 = hn::InterleaveUpper(d, column0, column2);
  const auto high13 = hn::InterleaveUpper(d, column1, column3);
  hn::StoreU(hn::InterleaveLower(d, low02, low13), d, target);
  hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, target + target_step);
  hn::StoreU(hn::InterleaveLower(d, high02, high13), d, target + 2 * target_step);
  hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, target + 3 * target_step);
}
HWY_INLINE void turn_block(const double* HWY_RESTRICT source, std::int64_t source_step, double* HWY_RESTRICT target,
                           std::int64_t target_step) {
  const hn::FixedTag<double, 2> d;
  const auto column0 = hn::LoadU(d, source);
  const auto column1 = hn::LoadU(d, source + source_step);
  hn::StoreU(hn::InterleaveLower(d, column0, column1), d, target);
  hn::StoreU(hn::InterleaveUpper(d, column0, column1), d, target + target_step);
}
#endif

/// target[row * target_step + column] = source[column * source_step + row].
template <class T>
HWY_INLINE void turn(const T* HWY_RESTRICT source, std::int64_t source_step, std::int64_t rows, std::int64_t columns,
                     T* HWY_RESTRICT target, std::int64_t target_step) {
  const std::int64_t whole_rows = rows - rows % kTurned<T>;
  std::int64_t column = 0;
  for (; column + kTurned<T> <= columns; column += kTurned<T>) {
    const T* const from = source + column * source_step;
    for (std::int64_t row = 0; row < whole_rows; row += kTurned<T>)
      turn_block(from + row, source_step, target + row * target_step + column, target_step);
    for (std::int64_t row = whole_rows; row < rows; ++row) {
      for (std::int64_t j = 0; j < kTurned<T>; ++j)
        target[row * target_step + column + j] = from[j * source_step + row];
    }
  }
  for (; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row)
      target[row * target_step + column] = source[column * source_step + row];
  }
}

template <class T>
HWY_INLINE void pack_any_panel(const ConstMatrix<T>& a, std::int64_t rows, std::int64_t columns, T* panel,
                               std::int64_t panel_step) {
  if (a.column_step == 1) {
    for (std::int64_t row = 0; row < rows; ++row) copy_row(a.at(row, 0), columns, panel + row * panel_step);
  } else {
    turn(a.data, a.column_step, rows, columns, panel, panel_step);
  }
}

template <class T>
HWY_INLINE void pack_any_slivers(const ConstMatrix<T>& b, std::int64_t rows, std::int64_t columns, T* slivers,
                                 std::int64_t width) {
  const std::int64_t whole = columns - columns % width;
  if (b.column_step == 1) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* const source = b.at(row, 0);
      for (std::int64_t column = 0; column < columns; column += width)
        copy_row(source + column, std::min(width, columns - column), slivers + column * rows + row * width);
    }
  } else {
    for (std::int64_t column = 0; column < columns; column += width)
      turn(b.at(0, column), b.column_step, rows, std::min(width, columns - column), slivers + column * rows, width);
  }
  // With AVX-512 what does not exist is not read.
  if (HWY_TARGET <= HWY_AVX3 || whole == columns) return;
  const std::int64_t used = columns - whole;
  for (std::int64_t row = 0; row < rows; ++row)
    std::fill_n(slivers + whole * rows + row * width + used, width - used, T(0));
}

void panel_float32(const ConstMatrix<float>& a, std::int64_t rows, std::int64_t columns, float* panel,
                   std::int64_t panel_step) {
  pack_any_panel(a, rows, columns, panel, panel_step);
}
void panel_float64(const ConstMatrix<double>& a, std::int64_t rows, std::int64_t columns, double* panel,
                   std::int64_t panel_step) {
  pack_any_panel(a, rows, columns, panel, panel_step);
}
void slivers_float32(const ConstMatrix<float>& b, std::int64_t rows, std::int64_t columns, float* slivers,
                     std::int64_t width) {
  pack_any_slivers(b, rows, columns, slivers, width);
}
void slivers_float64(const ConstMatrix<double>& b, std::int64_t rows, std::int64_t columns, double* slivers,
                     std::int64_t width) {
  pack_any_slivers(b, rows, columns, slivers, width);
}

}  // namespace gemm_register_pack
}  // namespace tessera::cpu_tbb::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::cpu_tbb {

HWY_EXPORT(panel_float32);
HWY_EXPORT(panel_float64);
HWY_EXPORT(slivers_float32);
HWY_EXPORT(slivers_float64);

template <>
void pack_panel(const ConstMatrix<float>& a, std::int64_t rows, std::int64_t columns, float* panel,
                std::int64_t panel_step) {
  HWY_DYNAMIC_DISPATCH(panel_float32)(a, rows, columns, panel, panel_step);
}
template <>
void pack_panel(const ConstMatrix<double>& a, std::int64_t rows, std::int64_t columns, double* panel,
                std::int64_t panel_step) {
  HWY_DYNAMIC_DISPATCH(panel_float64)(a, rows, columns, panel, panel_step);
}
template <>
void pack_slivers(const ConstMatrix<float>& b, std::int64_t rows, std::int64_t columns, float* slivers,
                  std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(slivers_float32)(b, rows, columns, slivers, width);
}
template <>
void pack_slivers(const ConstMatrix<double>& b, std::int64_t rows, std::int64_t columns, double* slivers,
                  std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(slivers_float64)(b, rows, columns, slivers, width);
}

}  // namespace tessera::cpu_tbb
#endif
