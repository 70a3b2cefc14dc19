// Packing for the variant "register": operands, transposed or not, copied into the layout that its kernel reads.
#pragma once

#include <cstdint>

#include "ops/gemm/gemm_operands.h"

namespace tessera::cpu_tbb {

/// Copies `rows` x `columns` elements of A to panel[row * panel_step + column].
template <class T>
void pack_panel(const ConstMatrix<T>& a, std::int64_t rows, std::int64_t columns, T* panel, std::int64_t panel_step);

/// Copies `rows` x `columns` elements of B into slivers of `width` columns, each row after row, one sliver after the
/// other. The last is filled up with zeros if the tile reads more than the columns that exist.
template <class T>
void pack_slivers(const ConstMatrix<T>& b, std::int64_t rows, std::int64_t columns, T* slivers, std::int64_t width);

}  // namespace tessera::cpu_tbb
