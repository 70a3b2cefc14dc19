// The variant "split_k": C so small that its blocks are too few for the threads or waste most of their time on packing,
// and long sums. k is cut into parts, and each part is a product of its own:
//
//             part 0    part 1    part 2             B: part 0 | ... |       A chunk is one part. Its sums for all of C
//           +---------+---------+---------+             part 1 | ... |       stay in the cache of its core, in a block
//     A  m  |  chunk  |  chunk  |  chunk  |      *      part 2 | ... |       of the workspace. A and B are read once;
//           +---------+---------+---------+                      n           a panel of A is packed on the way, B
//                                                                            is read where it lies, or packed.
//     blocks of the workspace, m x n each:    sums 0 + sums 1 + sums 2  ->  C = alpha * total + beta * C
//
// How many parts there are follows from the shape alone, and their sums are added in order, so neither the threads nor
// the executor change a bit. A sum of k products is rounded no more often than one taken in order: a part of it once
// for each of its products, and the total once for each part. alpha scales the total, once.
//
// The products of a batch are cut likewise. As many as the workspace has room for run together.
#include <algorithm>
#include <cstddef>
#include <memory>

#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_steps.h"
#include "ops/gemm/gemm_split_k_parts.h"
#include "ops/gemm/gemm_split_k_sums.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

using mathematics::ceil_div;
using mathematics::round_up;

/// Elements that one chunk of the last loop adds up at least: some microseconds.
constexpr std::int64_t kAddedAtOnce = 1 << 16;

/// Adds up the parts' sums of rows [first, last) in order, in the first part's block, and stores them.
template <class T>
void store_rows(const GemmMatrices<T>& gemm, const KParts& parts, T* sums, std::int64_t first, std::int64_t last) {
  const std::int64_t step = parts.row_elements;
  T* const total = sums + first * step;
  add_parts(total, parts.part_elements, parts.count, (last - first) * step, total);
  for (std::int64_t row = first; row < last; ++row) gemm.store_row(row, 0, sums + row * step, gemm.n);
}

template <class T>
void multiply(const Gemm& problem, const KParts& parts, Executor& executor, OperandAddresses operands) {
  if (problem.m == 0 || problem.n == 0) return;
  if (parts.count == 0) {
    for (std::int64_t i = 0; i < problem.batch; ++i) scale_rows(executor, GemmMatrices<T>(problem, operands, i));
    return;
  }
  const RegisterTile tile = register_tile<T>();
  T* const workspace = reinterpret_cast<T*>(operands.back());
  const std::int64_t product_elements = parts.count * parts.part_elements;
  const std::int64_t rows_at_once =
      std::clamp(kAddedAtOnce / (parts.count * parts.row_elements), std::int64_t{1}, problem.m);
  const std::int64_t blocks = ceil_div(problem.m, rows_at_once);
  for (std::int64_t first_product = 0; first_product < problem.batch; first_product += parts.products_at_once) {
    const std::int64_t products = std::min(parts.products_at_once, problem.batch - first_product);
    executor.parallel_for(products * parts.count, [&](std::int64_t first, std::int64_t last) {
      const RegisterBlock all{0, 0, problem.m, problem.n};
      RegisterWorkspace<T> scratch(executor, GemmMatrices<T>(problem, operands, first_product), tile, all, 0);
      for (std::int64_t chunk = first; chunk < last; ++chunk) {
        const std::int64_t index = chunk / parts.count, number = chunk % parts.count;
        const GemmMatrices<T> gemm(problem, operands, first_product + index);
        T* const sums = workspace + index * product_elements + number * parts.part_elements;
        const std::int64_t p = number * parts.length;
        multiply_steps<T>(gemm, tile, all, p, std::min(p + parts.length, gemm.k), T(1), T(0), scratch,
                          {sums, parts.row_elements});
      }
    });
    executor.parallel_for(products * blocks, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t chunk = first; chunk < last; ++chunk) {
        const std::int64_t index = chunk / blocks, row = chunk % blocks * rows_at_once;
        store_rows(GemmMatrices<T>(problem, operands, first_product + index), parts,
                   workspace + index * product_elements, row, std::min(row + rows_at_once, problem.m));
      }
    });
  }
}

}  // namespace

backend::Variant<Gemm> gemm_split_k() {
  return {
      .name = "split_k",
      .summary = "long sums of a small C: parts of k over the threads, added up in order",
      .check = split_k_check,
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        const KParts parts = parts_of_k(problem);
        return std::make_unique<CpuTbbKernel>(
            [problem, parts](Executor& executor, OperandAddresses operands) {
              if (problem.type == DataType::float32) {
                multiply<float>(problem, parts, executor, operands);
              } else {
                multiply<double>(problem, parts, executor, operands);
              }
            },
            parts.workspace_bytes);
      },
      .pays = split_k_pays,
  };
}

}  // namespace tessera::cpu_tbb
