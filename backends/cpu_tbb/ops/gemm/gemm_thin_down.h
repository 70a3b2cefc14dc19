// The half of the variant "thin" where sums run down the stored rows of the large operand: whole rows are added up,
// each times a number for each of the few rows or columns of C.
//
//                 strip 0   strip 1                     The large operand is read where it lies. A chunk is a strip of
//               +---------+---------+---   piece 0      its columns times a piece of k; its sums stay in the
//      few  *   |  chunk  |  chunk  |      of k         first-level cache. Sums of pieces are added in order,
//               +---------+---------+---   piece 1      by a second loop if there is more than one.
//               |         |         |
//
// Pieces have one length whatever the threads, so bits do not depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_thin_streams.h"

namespace tessera::cpu_tbb {

/// A chunk: rows of the large operand at most, and bytes of each. 384 KiB, about 30 microseconds from memory, and
/// 16 KiB of sums at most. Pieces have nearly the same length, because a short one costs as many sums as a long one.
inline constexpr std::int64_t kStreamRows = 192;
inline constexpr std::int64_t kStreamBytes = 2048;

/// Scratch memory for `count` elements.
template <class T>
ScratchPool::Loan loan_of(Executor& executor, std::int64_t count) {
  return {executor.scratch(), sizeof(T) * static_cast<std::size_t>(count)};
}
template <class T>
T* elements_of(const ScratchPool::Loan& loan) {
  return reinterpret_cast<T*>(loan.data());
}

/// The problem as the picture shows it: `few` sums for each of `many` columns of the large operand.
template <class T>
struct DownMatrices {
  DownMatrices(const GemmMatrices<T>& gemm, bool few_rows) {
    few = few_rows ? gemm.m : gemm.n;
    many = few_rows ? gemm.n : gemm.m;
    streams.matrix = few_rows ? gemm.b.data : gemm.a.data;
    streams.row_step = few_rows ? gemm.b.row_step : gemm.a.column_step;
    streams.factors = few_rows ? gemm.a.data : gemm.b.data;
    streams.factor_step = few_rows ? gemm.a.row_step : gemm.b.column_step;
    streams.factor_p_step = few_rows ? gemm.a.column_step : gemm.b.row_step;
    streams.count = few;
    c_few_step = few_rows ? gemm.ldc : 1;
    c_many_step = few_rows ? 1 : gemm.ldc;
  }

  std::int64_t few = 0;
  std::int64_t many = 0;
  ThinStreams<T> streams;  ///< of the whole operand
  std::int64_t c_few_step = 0;
  std::int64_t c_many_step = 0;
};

/// Adds up `pieces` sums, piece_step apart, of columns [first, last) and stores them.
template <class T>
void store_strip(const GemmMatrices<T>& gemm, const DownMatrices<T>& down, const T* sums, std::int64_t sums_step,
                 std::int64_t pieces, std::int64_t piece_step, std::int64_t first, std::int64_t last) {
  for (std::int64_t one = 0; one < down.few; ++one) {
    const T* const row = sums + one * sums_step;
    T* const target = gemm.c + (one * down.c_few_step + first * down.c_many_step);
    for (std::int64_t column = 0; column < last - first; ++column) {
      T total = row[column];
      for (std::int64_t piece = 1; piece < pieces; ++piece) total += row[piece * piece_step + column];
      T& element = target[column * down.c_many_step];
      element = gemm.beta == T(0) ? gemm.alpha * total : gemm.alpha * total + gemm.beta * element;
    }
  }
}

/// `few_rows`: C has few rows and B lies as it is; else C has few columns, and A is transposed. k is not 0.
template <class T>
void multiply_down(Executor& executor, const GemmMatrices<T>& gemm, bool few_rows) {
  constexpr std::int64_t kWidth = kStreamBytes / static_cast<std::int64_t>(sizeof(T));
  const DownMatrices<T> down(gemm, few_rows);
  const std::int64_t strips = mathematics::ceil_div(down.many, kWidth);
  const std::int64_t most_pieces = mathematics::ceil_div(gemm.k, kStreamRows);
  const std::int64_t length = mathematics::ceil_div(gemm.k, most_pieces);
  const std::int64_t pieces = mathematics::ceil_div(gemm.k, length);
  const auto add = [&](std::int64_t strip, std::int64_t piece, T* sums, std::int64_t sums_step) {
    const std::int64_t p = piece * length, column = strip * kWidth;
    ThinStreams<T> chunk = down.streams;
    chunk.matrix += p * chunk.row_step + column;
    chunk.factors += p * chunk.factor_p_step;
    chunk.length = std::min(length, gemm.k - p);
    chunk.columns = std::min(kWidth, down.many - column);
    chunk.sums = sums;
    chunk.sums_step = sums_step;
    add_streams(chunk);
  };
  if (pieces == 1) {
    return executor.parallel_for(strips, [&](std::int64_t first, std::int64_t last) {
      const ScratchPool::Loan sums = loan_of<T>(executor, down.few * kWidth);
      for (std::int64_t strip = first; strip < last; ++strip) {
        add(strip, 0, elements_of<T>(sums), kWidth);
        store_strip(gemm, down, elements_of<T>(sums), kWidth, 1, 0, strip * kWidth,
                    std::min((strip + 1) * kWidth, down.many));
      }
    });
  }
  const std::int64_t piece_step = down.few * down.many;
  const ScratchPool::Loan loan = loan_of<T>(executor, pieces * piece_step);
  T* const sums = elements_of<T>(loan);
  executor.parallel_for(strips * pieces, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const std::int64_t strip = chunk % strips, piece = chunk / strips;
      add(strip, piece, sums + piece * piece_step + strip * kWidth, down.many);
    }
  });
  executor.parallel_for(strips, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t column = first * kWidth;
    store_strip(gemm, down, sums + column, down.many, pieces, piece_step, column, std::min(last * kWidth, down.many));
  });
}

}  // namespace tessera::cpu_tbb
