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
#include <string>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_thin_down.h"
#include "ops/gemm/gemm_thin_kernel.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The most columns that count as few. 2048 x 8 x 2048 floats ran at 72 GFLOP/s on one core of a Xeon, and at 34 with
/// "register". On two threads of a busy one 12 x 1009 x 1345 with B transposed took 0.55 of the time of "register",
/// with 16 rows the two were even. Where sums run down, fewer do.
constexpr std::int64_t kMostColumns = 12;
constexpr std::int64_t kMostColumnsDown = ThinStreams<float>::kMost;
/// Where sums run along the rows, "thin" and "register" are compared by what a row of the large operand costs on one
/// thread, in nanoseconds. "thin" multiplies vectors, and at the end of each sum adds up the lanes. "register" computes
/// half vectors of few columns, or with few rows turns the rows into slivers of B. Fitted to 600 rows by 1 to 12
/// columns, k from 16 to 600, on one Zen 4 core with AVX-512; no committed file has them.
constexpr double kOfRow = 1, kOfSum = 2.6, kOfProduct = 0.28;
constexpr double kRegisterOfElement = 0.11, kRegisterOfHalf = 0.13;
constexpr double kRegisterOfTurning = 2.6, kRegisterOfTurned = 0.26;

/// Where sums run down the stored rows: the most columns or rows that gain, and how many bytes the large operand must
/// have, in all and for each square of how many there are. "register" reads it where it lies as well, and what counts
/// is how memory is read: on two threads of a busy Xeon 1 x 4096 x 4096 took 0.65 of its time, 4 x 1024 x 1024 0.78,
/// but 8 x 1024 x 1024 twice as long. What stays in the cache is read as fast by "register".
constexpr std::int64_t kMostDown = 4;
constexpr std::int64_t kLeastDownBytes = 2 << 20;
constexpr std::int64_t kLeastDownBytesOfSquare = 256 * 1024;

/// Bytes of a row that one chunk reads: its 8 columns of the other operand stay in the second-level cache.
constexpr std::int64_t kPieceBytes = 16 * 1024;
/// Bytes of the large operand that one chunk reads at least: about 20 microseconds from memory.
constexpr std::int64_t kChunkBytes = 256 * 1024;

/// Which side of C is short, and whether sums run along the large operand's stored rows or down over them.
enum class ShortSide { none, columns, rows, columns_down, rows_down };
ShortSide short_side(const Gemm& problem) {
  for (const std::int64_t most : {kMostColumnsDown, kMostColumns}) {
    if (problem.n <= most && !problem.transpose_a) return ShortSide::columns;
    if (problem.m <= most && problem.transpose_b) return ShortSide::rows;
    if (std::min(problem.m, problem.n) <= kMostColumnsDown)
      return problem.m <= problem.n ? ShortSide::rows_down : ShortSide::columns_down;
  }
  return ShortSide::none;
}
bool is_down(ShortSide side) {
  return side == ShortSide::columns_down || side == ShortSide::rows_down;
}

/// The problem as the picture shows it, turned if C has few rows.
template <class T>
struct ThinMatrices {
  ThinMatrices(const GemmMatrices<T>& gemm, ShortSide side)
      : k(gemm.k),
        piece(kPieceBytes / static_cast<std::int64_t>(sizeof(T))),
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
  const std::int64_t block_rows = std::min(mathematics::ceil_div(kChunkBytes, row_bytes), thin.rows);
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

backend::Verdict check(const Gemm& problem, const backend::Device&) {
  using backend::sentence;
  using backend::Verdict;
  if (short_side(problem) == ShortSide::none)
    return Verdict::no(sentence("gemm's n is ", problem.n, problem.transpose_a ? " with A transposed" : "",
                                " and m is ", problem.m, problem.transpose_b ? " with B transposed" : "",
                                ", but thin needs one of them up to ", kMostColumnsDown, ", or n up to ", kMostColumns,
                                " with A as it is, or m up to ", kMostColumns, " with B transposed"));
  return Verdict::yes();
}

/// Where sums run down.
backend::Verdict pays_down(const Gemm& problem) {
  const std::int64_t few = std::min(problem.m, problem.n), many = std::max(problem.m, problem.n);
  if (few > kMostDown)
    return backend::Verdict::no(backend::sentence("gemm's m and n are at least ", few, ", but thin gains up to ",
                                                  kMostDown, " where sums run down the stored rows"));
  const auto size = static_cast<std::int64_t>(size_bytes(problem.type));
  const std::int64_t least = std::max(kLeastDownBytes, kLeastDownBytesOfSquare * few * few) / size;
  if (many * problem.k >= least) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("gemm's large operand has ", many * problem.k, " elements, but with ",
                                                few, " columns or rows thin gains from ", least, " on"));
}

/// Long sums of so few elements are faster in parts, which threads share: 10 x 8 x 30000 takes split_k 0.52 of thin's
/// time in float32 and 0.55 in float64 on two threads, 16 x 8 x 30000 0.77 and 0.83 (an EPYC; without a file).
bool is_tiny_and_long(const Gemm& problem) {
  constexpr std::int64_t kMostElements = 256, kLongSum = 8192, kFewest = 8;
  // Compared so that no product of sizes is formed that an int64 may not hold.
  return std::min(problem.m, problem.n) >= kFewest && std::max(problem.m, problem.n) <= kMostElements / kFewest &&
         problem.m * problem.n <= kMostElements && problem.k >= kLongSum;
}

backend::Verdict pays(const Gemm& problem, const backend::Device&) {
  const ShortSide side = short_side(problem);
  if (is_down(side)) return pays_down(problem);
  if (is_tiny_and_long(problem)) {
    return backend::Verdict::no(backend::sentence("gemm's C has ", problem.m, " x ", problem.n, " elements, sums of ",
                                                  problem.k, " products, which threads share in parts"));
  }
  const RegisterTile tile = problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>();
  const std::int64_t lanes = tile.columns / 2, few = side == ShortSide::columns ? problem.n : problem.m;
  const auto k = static_cast<double>(problem.k), sums = static_cast<double>(few);
  const double own = kOfRow + sums * (kOfSum + kOfProduct * k / static_cast<double>(lanes));
  const std::int64_t halves =
      tile.reads_columns_alone ? mathematics::ceil_div(2 * few, lanes) : 2 * mathematics::ceil_div(few, lanes);
  const double of_element = side == ShortSide::columns
                                ? kRegisterOfElement + kRegisterOfHalf * static_cast<double>(halves)
                                : (kRegisterOfTurning + kRegisterOfTurned * sums) / static_cast<double>(lanes);
  if (own <= k * of_element) return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("gemm's k is ", problem.k, ", but with ", few,
                                                " columns or rows thin gains with longer sums alone"));
}

}  // namespace

backend::Variant<Gemm> gemm_thin() {
  return {
      .name = "thin",
      .summary = "a few columns or rows of C: each element of the large operand read once, where it lies",
      .check = check,
      .tunables = nullptr,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning&) {
            return make_gemm_kernel(problem, [side = short_side(problem)](Executor& executor, const auto& gemm) {
              multiply(executor, gemm, side);
            });
          },
      .pays = pays,
  };
}

}  // namespace tessera::cpu_tbb
