// Steps of k for one block of C, as "register" and "split_k" compute them: rows of B where they lie or packed into
// slivers, panels of A packed one after the other, each times all slivers (gemm_register_kernel.h). The picture is in
// gemm_register.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"

namespace tessera::cpu_tbb {

/// A block with up to this many panels reads B where it is and makes no packed copy, because too few panels would use
/// it. That matters for the smallest products alone: 32 x 32 x 32 floats ran at 108 GFLOP/s on one core of a Xeon, and
/// at 98 with a copy.
inline constexpr std::int64_t kRegisterPanelsInPlace = 5;

/// A panel of A is read where it lies for up to so many tiles beside each other.
inline constexpr std::int64_t kRegisterTilesInPlace = 4;
inline constexpr std::int64_t kRegisterTilesInPlaceTransposed = 8;

/// A rectangle of C.
struct RegisterBlock {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// How many of a block's columns of B need no packing of their own: all, or those in whole slivers, whose rows lie in
/// memory as they are read. The first panel's product reads them where they are, and leaves a packed copy for the
/// others if those are many.
template <class T>
std::int64_t columns_in_place(const GemmMatrices<T>& gemm, const RegisterTile& tile, std::int64_t rows,
                              std::int64_t columns) {
  if (gemm.b.column_step != 1) return 0;
  if (tile.reads_columns_alone && rows <= kRegisterPanelsInPlace * tile.rows) return columns;
  return columns - columns % tile.columns;
}

/// Rows that lie so far apart, give or take a line, share a few lines of the first-level cache, and of the second: the
/// line of a cache that memory goes to repeats itself after so many bytes, or a few times as many.
inline constexpr std::int64_t kRegisterPage = 4096;
inline bool shares_lines(std::int64_t step_bytes, std::int64_t page) {
  constexpr std::int64_t kLine = 64;
  return (step_bytes + kLine) % page < 2 * kLine;
}

/// A panel of A is read where it lies if it is read so few times that packing it would take longer.
template <class T>
bool is_read_in_place(const ConstMatrix<T>& a, const RegisterTile& tile, std::int64_t columns) {
  const std::int64_t tiles = mathematics::ceil_div(columns, tile.columns);
  if (a.column_step != 1) return tiles <= kRegisterTilesInPlaceTransposed;
  return tiles <= kRegisterTilesInPlace &&
         !shares_lines(a.row_step * static_cast<std::int64_t>(sizeof(T)), kRegisterPage);
}

/// Elements of k in one step at most. More where C is one vector wide, so that a sliver takes half of the room, and A
/// is read where it lies: in shorter steps its rows are left when the processor has just begun to fetch ahead. 2796 x
/// 14 x 261 floats take 69 us in one step and 87 in two on two threads of an EPYC with AVX-512 (without a file).
template <class T>
std::int64_t most_depth(const GemmMatrices<T>& gemm, const RegisterTile& tile) {
  const bool is_deep = 2 * gemm.n <= tile.columns && is_read_in_place(gemm.a, tile, gemm.n);
  return is_deep ? 2 * kRegisterDepth<T> : kRegisterDepth<T>;
}

/// The memory that one thread works in: a panel of A, the slivers of B of one block, and its sums if they need any. A
/// small product has neither slivers nor sums, and asks the pool for nothing.
template <class T>
class RegisterWorkspace {
 public:
  /// For blocks with at most `block`'s rows and columns; block.columns is a multiple of the tile's unless it is all of
  /// C's.
  RegisterWorkspace(Executor& executor, const GemmMatrices<T>& gemm, const RegisterTile& tile,
                    const RegisterBlock& block, std::int64_t sums)
      : sliver_count_(slivers_needed(gemm, tile, block)),
        loan_(executor.scratch(), sizeof(T) * static_cast<std::size_t>(sliver_count_ + sums)) {}
  [[nodiscard]] T* panel() noexcept { return panel_; }
  [[nodiscard]] T* slivers() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* sums() const noexcept { return slivers() + sliver_count_; }

 private:
  static std::int64_t slivers_needed(const GemmMatrices<T>& gemm, const RegisterTile& tile,
                                     const RegisterBlock& block) {
    const bool is_copied = block.rows > kRegisterPanelsInPlace * tile.rows;
    if (!is_copied && columns_in_place(gemm, tile, block.rows, gemm.n) == gemm.n) return 0;
    return mathematics::round_up(block.columns, tile.columns) * std::min(most_depth(gemm, tile), gemm.k);
  }

  alignas(64) T panel_[kRegisterMostRows * kRegisterDepth<T>];
  std::int64_t sliver_count_;
  ScratchPool::Loan loan_;
};

/// The elements of A that a panel is packed from, as they lie in memory. None for a depth of 0.
template <class T>
Prefetch source_of_panel(const ConstMatrix<T>& a, std::int64_t row, std::int64_t p, std::int64_t rows,
                         std::int64_t depth) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  if (depth == 0) return {};
  if (a.column_step == 1) return {a.at(row, p), rows, depth * size, a.row_step * size};
  return {a.at(row, p), depth, rows * size, a.column_step * size};
}

/// A panel's share of the elements of B that the next step of k needs, or the first step of the columns that come next,
/// as they lie in memory: brought near while other slivers are multiplied, because their own first panel jumps from row
/// to row, which no processor foresees. On two threads of an EPYC with AVX-512 (without a file) 242 x 455 x 1875 floats
/// take 0.95 ms so and 1.12 without; 76 x 1884 x 247 by the columns that come next 0.41 and 0.53; 76 x 2500 x 180 0.40
/// and 0.52. None of a step that has no room beside this one in the second-level cache. And none of rows that share
/// lines of that cache and push each other out of it before they are read: on two threads of a Xeon (Cascade Lake) 8 x
/// 4096 x 9216 floats take 24.5 ms with it and 16.5 without, 12 x 1024 x 4096 2.7 and 1.85, 40 x 2048 x 2048 5.6 and
/// 5.0; of a single panel's rows, which may be fewer at once, steps of half a page do (12 x 1536 x 2048: 1.9 and 1.5;
/// without a file).
template <class T>
Prefetch source_of_next_slivers(const ConstMatrix<T>& b, std::int64_t p, std::int64_t column, std::int64_t depth,
                                std::int64_t columns, std::int64_t panel, std::int64_t panels) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kMostBytes = 400 * 1024;
  constexpr std::int64_t kForeseenBytes = 256;  // rows so short follow each other closely
  if (depth * columns * size > kMostBytes) return {};
  if (b.column_step == 1) {
    const std::int64_t row_bytes = b.row_step * size;
    const std::int64_t page = panels == 1 ? kRegisterPage / 2 : kRegisterPage;
    if (row_bytes <= kForeseenBytes || shares_lines(row_bytes, page)) return {};
  }
  const auto share = [&](std::int64_t count) { return count * panel / panels; };
  if (b.column_step == 1) {
    const std::int64_t first = share(depth), last = depth * (panel + 1) / panels;
    return {b.at(p + first, column), last - first, columns * size, b.row_step * size};
  }
  const std::int64_t first = share(columns), last = columns * (panel + 1) / panels;
  return {b.at(p, column + first), last - first, depth * size, b.column_step * size};
}

/// Where the sums of a block are: its first element, in C or in memory of their own.
template <class T>
struct RegisterTarget {
  T* first = nullptr;
  std::int64_t row_step = 0;
  bool is_scaled_after = false;  ///< when all are added up, they are multiplied by alpha and stored in C
  bool is_turned = false;        ///< and what is stored there is the block's transpose
};

/// Columns of B that a thread multiplies; none of 0.
struct RegisterColumns {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Elements of k that pass through the first-level cache together.
struct StepOfK {
  std::int64_t first = 0;
  std::int64_t depth = 0;
  std::int64_t next_depth = 0;       ///< of the step behind it; 0 behind the last one
  RegisterColumns columns_behind{};  ///< behind the last one: what the thread multiplies next, from element 0 of k on
  std::int64_t depth_behind = 0;     ///< of the first step of that
};

/// One step of k for one block, added to product.beta times what stands there.
template <class T>
void multiply_step(const GemmMatrices<T>& gemm, const RegisterTile& tile, const RegisterBlock& block,
                   const StepOfK& step, PanelProduct<T> product, RegisterWorkspace<T>& workspace,
                   const RegisterTarget<T>& target) {
  const std::int64_t p = step.first;
  const std::int64_t panels = mathematics::ceil_div(block.rows, tile.rows);
  const std::int64_t whole = columns_in_place(gemm, tile, block.rows, block.columns);
  const auto slivers_from = [&](std::int64_t column) { return workspace.slivers() + column * step.depth; };
  if (whole < block.columns)
    pack_slivers({gemm.b.at(p, block.column + whole), gemm.b.row_step, gemm.b.column_step}, step.depth,
                 block.columns - whole, slivers_from(whole), tile.columns);
  product.depth = step.depth;
  product.a_row_step = gemm.a.row_step;
  product.a_depth_step = gemm.a.column_step;
  const bool reads_a_in_place = is_read_in_place(gemm.a, tile, block.columns);
  product.ldc = target.row_step;
  std::int64_t row = block.row;
  for (std::int64_t panel = 0; panel < panels; ++panel, row += product.rows) {
    // Panels of nearly equal height, not whole ones and a rest: fewer than 4 rows are too few sums to hide the latency.
    product.rows = block.rows / panels + (panel < block.rows % panels ? 1 : 0);
    const bool leaves_copy = panel == 0 && panels > kRegisterPanelsInPlace && whole > 0;
    const bool is_in_place = !leaves_copy && reads_a_in_place;
    if (is_in_place) {
      product.a = gemm.a.at(row, p);
    } else {
      product.a = workspace.panel();
      pack_panel({gemm.a.at(row, p), gemm.a.row_step, gemm.a.column_step}, product.rows, product.depth,
                 workspace.panel(), kRegisterDepth<T>);
    }
    const auto multiply = is_in_place ? multiply_panel_in_place<T> : multiply_panel<T>;
    product.next = panel + 1 < panels
                       ? source_of_panel(gemm.a, row + product.rows, p, product.rows, step.depth)
                       : source_of_panel(gemm.a, block.row, p + step.depth, product.rows, step.next_depth);
    if (is_in_place && panels == 1) product.next = {};  // its rows go on where they are being read
    product.next_slivers = step.next_depth > 0 || step.columns_behind.count == 0
                               ? source_of_next_slivers(gemm.b, p + step.depth, block.column, step.next_depth,
                                                        block.columns, panel, panels)
                               : source_of_next_slivers(gemm.b, 0, step.columns_behind.first, step.depth_behind,
                                                        step.columns_behind.count, panel, panels);
    T* const sums = target.first + (row - block.row) * target.row_step;
    const std::int64_t in_place = panel == 0 || panels <= kRegisterPanelsInPlace ? whole : 0;
    if (in_place > 0) {
      product.b = gemm.b.at(p, block.column);
      product.b_step = gemm.b.row_step;
      product.sliver_step = tile.columns;
      product.packed = panels > kRegisterPanelsInPlace ? slivers_from(0) : nullptr;
      product.c = sums;
      product.columns = in_place;
      multiply(product);
    }
    if (in_place < block.columns) {
      product.b = slivers_from(in_place);
      product.b_step = tile.columns;
      product.sliver_step = tile.columns * product.depth;
      product.packed = nullptr;
      product.c = sums + in_place;
      product.columns = block.columns - in_place;
      multiply(product);
    }
    if (!target.is_scaled_after || step.next_depth > 0) continue;
    if (target.is_turned) {
      // The panel has been multiplied, and its memory is free.
      pack_panel({sums, 1, target.row_step}, block.columns, product.rows, workspace.panel(), product.rows);
      for (std::int64_t j = 0; j < block.columns; ++j)
        gemm.store_row(block.column + j, row, workspace.panel() + j * product.rows, product.rows);
    } else {
      for (std::int64_t i = 0; i < product.rows; ++i)
        gemm.store_row(row + i, block.column, sums + i * target.row_step, block.columns);
    }
  }
}

/// Elements [first, last) of k for one block, in equal steps: alpha times the sums is added to beta times what stands
/// there. The first rows of the columns that come `behind` are brought near meanwhile.
template <class T>
void multiply_steps(const GemmMatrices<T>& gemm, const RegisterTile& tile, const RegisterBlock& block,
                    std::int64_t first, std::int64_t last, T alpha, T beta, RegisterWorkspace<T>& workspace,
                    const RegisterTarget<T>& target, RegisterColumns behind = {}) {
  const std::int64_t depth =
      mathematics::ceil_div(last - first, mathematics::ceil_div(last - first, most_depth(gemm, tile)));
  PanelProduct<T> product;
  product.alpha = alpha;
  product.beta = beta;
  for (std::int64_t p = first; p < last; p += depth) {
    const std::int64_t left = std::max<std::int64_t>(last - p - depth, 0);
    multiply_step(gemm, tile, block, {p, std::min(depth, last - p), std::min(depth, left), behind, depth}, product,
                  workspace, target);
    product.beta = T(1);
  }
}

}  // namespace tessera::cpu_tbb
