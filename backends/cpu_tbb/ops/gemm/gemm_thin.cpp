// The variant "thin": products with so few columns or rows that every element of the large operand is read once and
// nothing is worth packing it for. It is bound by memory.
//
//                        piece 0     piece 1    piece 2          C has few columns, so that B is a few columns of k
//      C               +-----------+-----------+------+          elements; they are laid out one after the other. A is
//     +--+    block 0  |  chunk    |  chunk    |      |          read where it lies. A chunk is a block of rows of A
//     |  |  =          |           |           |      | * B      times a piece of k, and leaves a sum for each element
//     |  |    block 1  |           |           |      |          of C in its block. Sums of pieces are added in order,
//     +--+             +-----------+-----------+------+          by a second loop if there is more than one piece.
//
// Pieces have one length whatever the threads, so bits do not depend on them. With few rows of C and B transposed it is
// the same picture turned: rows of the stored B meet the few rows of A.
//
// Where sums run down the stored rows of the large operand (few rows of C and B as it is, or few columns and A
// transposed), gemm_thin_down.h shows what is done.
#include <algorithm>
#include <cstddef>

#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_thin_choice.h"
#include "ops/gemm/gemm_thin_down.h"
#include "ops/gemm/gemm_thin_kernel.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Bytes of the large operand that one chunk reads at most, if it reads more than a row: about 10 microseconds from
/// memory. Chunks have nearly the same number of rows.
constexpr std::int64_t kChunkBytes = 128 * 1024;

/// The problem as the picture shows it, turned if C has few rows.
template <class T>
struct ThinMatrices {
  ThinMatrices(const GemmMatrices<T>& gemm, ShortSide side)
      : k(gemm.k),
        piece(kThinPieceBytes / static_cast<std::int64_t>(sizeof(T))),
        pieces(mathematics::ceil_div(gemm.k, piece)) {
    if (side == ShortSide::columns) {
      rows = gemm.m;
      columns = gemm.n;
      a = gemm.a.data;
      a_step = gemm.a.row_step;
      b = {gemm.b.data, gemm.b.column_step, gemm.b.row_step};
      c_row_step = gemm.ldc;
      c_column_step = 1;
    } else {
      rows = gemm.n;
      columns = gemm.m;
      a = gemm.b.data;
      a_step = gemm.b.column_step;
      b = gemm.a;
      c_row_step = 1;
      c_column_step = gemm.ldc;
    }
  }

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t k = 0;
  const T* a = nullptr;  ///< element (row, p) at a[row * a_step + p]
  std::int64_t a_step = 0;
  ConstMatrix<T> b;  ///< transposed: element (column, p)
  std::int64_t c_row_step = 0;
  std::int64_t c_column_step = 0;
  std::int64_t piece = 0;
  std::int64_t pieces = 0;
};

/// The columns one after the other, copied only if they do not lie so.
template <class T>
const T* columns_in_order(Executor& executor, const ThinMatrices<T>& thin, T* copy) {
  if (thin.b.column_step == 1) return thin.b.data;
  executor.parallel_for(thin.pieces, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t p = first * thin.piece;
    const std::int64_t length = std::min(last * thin.piece, thin.k) - p;
    pack_panel({thin.b.at(0, p), thin.b.row_step, thin.b.column_step}, thin.columns, length, copy + p, thin.k);
  });
  return copy;
}

/// Adds up `pieces` sums of each element of rows [first, last), piece_step apart, and stores them.
template <class T>
void store_rows(const GemmMatrices<T>& gemm, const ThinMatrices<T>& thin, const T* sums, std::int64_t piece_step,
                std::int64_t first, std::int64_t last) {
  for (std::int64_t row = first; row < last; ++row) {
    for (std::int64_t column = 0; column < thin.columns; ++column, ++sums) {
      T total = *sums;
      for (std::int64_t piece = 1; piece < thin.pieces; ++piece) total += sums[piece * piece_step];
      T& target = gemm.c[row * thin.c_row_step + column * thin.c_column_step];
      target = gemm.beta == T(0) ? gemm.alpha * total : gemm.alpha * total + gemm.beta * target;
    }
  }
}

/// One piece of k for rows [first, last).
template <class T>
void multiply_piece(const ThinMatrices<T>& thin, const T* columns, std::int64_t piece, std::int64_t first,
                    std::int64_t last, T* sums) {
  const std::int64_t p = piece * thin.piece;
  ThinProduct<T> product;
  product.rows = thin.a + (first * thin.a_step + p);
  product.row_step = thin.a_step;
  product.row_count = last - first;
  product.columns = columns + p;
  product.column_step = thin.b.column_step == 1 ? thin.b.row_step : thin.k;
  product.column_count = thin.columns;
  product.length = std::min(thin.piece, thin.k - p);
  product.sums = sums;
  product.sums_step = thin.columns;
  product.is_far = static_cast<double>(thin.rows) * static_cast<double>(thin.k) * sizeof(T) > kThinFarBytes;
  multiply_thin(product);
}

template <class T>
void multiply(Executor& executor, const GemmMatrices<T>& gemm, ShortSide side) {
  if (gemm.k == 0) {
    for (std::int64_t row = 0; row < gemm.m; ++row) gemm.scale_row(row);
    return;
  }
  if (is_down(side)) return multiply_down(executor, gemm, side == ShortSide::rows_down);
  const ThinMatrices<T> thin(gemm, side);
  const ScratchPool::Loan copy = loan_of<T>(executor, thin.b.column_step == 1 ? 0 : thin.columns * thin.k);
  const T* const columns = columns_in_order(executor, thin, elements_of<T>(copy));

  const std::int64_t row_bytes = std::min(thin.piece, thin.k) * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t most_rows = std::min(mathematics::ceil_div(kChunkBytes, row_bytes), thin.rows);
  const std::int64_t block_rows = mathematics::ceil_div(thin.rows, mathematics::ceil_div(thin.rows, most_rows));
  const std::int64_t blocks = mathematics::ceil_div(thin.rows, block_rows);
  if (thin.pieces == 1) {
    return executor.parallel_for(blocks, [&](std::int64_t first, std::int64_t last) {
      const ScratchPool::Loan sums = loan_of<T>(executor, block_rows * thin.columns);
      for (std::int64_t block = first; block < last; ++block) {
        const std::int64_t row = block * block_rows;
        const std::int64_t last_row = std::min(row + block_rows, thin.rows);
        multiply_piece(thin, columns, 0, row, last_row, elements_of<T>(sums));
        store_rows(gemm, thin, elements_of<T>(sums), 0, row, last_row);
      }
    });
  }
  const std::int64_t piece_step = thin.rows * thin.columns;
  const ScratchPool::Loan loan = loan_of<T>(executor, thin.pieces * piece_step);
  T* const sums = elements_of<T>(loan);
  const std::int64_t pieces_at_once = std::max<std::int64_t>(kChunkBytes / (row_bytes * block_rows), 1);
  executor.parallel_for(
      blocks * mathematics::ceil_div(thin.pieces, pieces_at_once), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t chunk = first; chunk < last; ++chunk) {
          const std::int64_t row = chunk % blocks * block_rows;
          const std::int64_t last_row = std::min(row + block_rows, thin.rows);
          const std::int64_t first_piece = chunk / blocks * pieces_at_once;
          for (std::int64_t piece = first_piece; piece < std::min(first_piece + pieces_at_once, thin.pieces); ++piece)
            multiply_piece(thin, columns, piece, row, last_row, sums + piece * piece_step + row * thin.columns);
        }
      });
  executor.parallel_for(blocks, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t row = first * block_rows;
    store_rows(gemm, thin, sums + row * thin.columns, piece_step, row, std::min(last * block_rows, thin.rows));
  });
}

}  // namespace

backend::Variant<Gemm> gemm_thin() {
  return {
      .name = "thin",
      .summary = "a few columns or rows of C: each element of the large operand read once, where it lies",
      .check = thin_check,
      .tunables = nullptr,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning&) {
            return make_gemm_kernel(problem, [side = short_side(problem)](Executor& executor, const auto& gemm) {
              multiply(executor, gemm, side);
            });
          },
      .pays = thin_pays,
  };
}

}  // namespace tessera::cpu_tbb
