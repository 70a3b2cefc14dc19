// The variant "split": float32 products by AMX's tiles of bfloat16, each as six of shorter numbers
// (gemm_split_kernel.cpp). C in blocks over the threads, as "register" cuts them:
//
//                        block of C: its columns of B, split and packed once per step of k, <= 768 KiB
//     A panel, split     +------+------+------+------+
//     +-----------+      |sliver|      |      |      |     Operands are split where they are packed, once for
//     | 32 rows   |      +------+------+------+------+     each block in their rows or columns of C. Splitting
//     +-----------+      | tile | tile | tile | tile |     costs as much as multiplying by 40 rows or columns
//     | next panel|      |      |      |      |      |     more, so blocks are large.
//
// Sums go from one step of k to the next in memory of their own, tile after tile. The steps depend on k alone, so
// blocks, which depend on the number of threads, do not change a bit. Sums that may be off by more than the bound
// allows, and all that are no finite numbers, are computed anew by the tile of "register" (docs/decisions/0028).
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "backend/sentence.h"
#include "cpu_tbb_device.h"
#include "cpu_tbb_instruction_set.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_split_choice.h"
#include "ops/gemm/gemm_split_kernel.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

using mathematics::ceil_div;
using mathematics::round_up;

constexpr std::int64_t kTileSums = kSplitTile * kSplitTile;

/// A rectangle of C.
struct Block {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// The memory that one thread works in, for blocks of at most so many rows and columns.
class Workspace {
 public:
  Workspace(ScratchPool& pool, std::int64_t rows, std::int64_t columns)
      : panels_(ceil_div(rows, kSplitTile)),
        slivers_(ceil_div(columns, kSplitTile)),
        loan_(pool, static_cast<std::size_t>((panels_ + slivers_) * kExtentBytes + (1 + slivers_) * kPackedBytes +
                                             panels_ * slivers_ * kSumBytes + kTurnedBytes)) {}

  [[nodiscard]] SplitExtents* rows() const noexcept { return reinterpret_cast<SplitExtents*>(loan_.data()); }
  [[nodiscard]] SplitExtents* columns() const noexcept { return rows() + panels_; }
  [[nodiscard]] std::byte* panel() const noexcept { return reinterpret_cast<std::byte*>(columns() + slivers_); }
  [[nodiscard]] std::byte* slivers() const noexcept { return panel() + kPackedBytes; }
  [[nodiscard]] float* sums() const noexcept { return reinterpret_cast<float*>(slivers() + slivers_ * kPackedBytes); }
  /// A step of k of one panel or sliver, turned.
  [[nodiscard]] float* turned() const noexcept { return sums() + panels_ * slivers_ * kTileSums; }

 private:
  static constexpr std::int64_t kExtentBytes = sizeof(SplitExtents);
  static constexpr std::int64_t kPackedBytes = kSplitDepth / kSplitStep * kSplitStepBytes;
  static constexpr std::int64_t kSumBytes = kTileSums * static_cast<std::int64_t>(sizeof(float));
  static constexpr std::int64_t kTurnedBytes = kSplitDepth * kSplitTile * static_cast<std::int64_t>(sizeof(float));

  std::int64_t panels_;
  std::int64_t slivers_;
  ScratchPool::Loan loan_;
};

/// The sums of one tile, as "register" adds them up.
void compute_anew(ScratchPool& pool, const GemmMatrices<float>& gemm, const Block& tile, float* sums) {
  const RegisterTile shape = register_tile<float>();
  const std::int64_t width = round_up(tile.columns, shape.columns);
  const std::int64_t depth = ceil_div(gemm.k, ceil_div(gemm.k, kRegisterDepth<float>));
  const ScratchPool::Loan loan(
      pool, sizeof(float) * static_cast<std::size_t>(shape.rows * kRegisterDepth<float> + depth * width));
  PanelProduct<float> product;
  auto* const panel = reinterpret_cast<float*>(loan.data());
  float* const slivers = panel + shape.rows * kRegisterDepth<float>;
  product.a = panel;
  product.b = slivers;
  product.b_step = shape.columns;
  product.ldc = kSplitTile;
  product.columns = tile.columns;
  product.alpha = 1;
  for (std::int64_t p = 0; p < gemm.k; p += depth, product.beta = 1) {
    product.depth = std::min(depth, gemm.k - p);
    product.sliver_step = shape.columns * product.depth;
    pack_slivers({gemm.b.at(p, tile.column), gemm.b.row_step, gemm.b.column_step}, product.depth, tile.columns, slivers,
                 shape.columns);
    for (std::int64_t row = 0; row < tile.rows; row += product.rows) {
      product.rows = std::min(shape.rows, tile.rows - row);
      pack_panel({gemm.a.at(tile.row + row, p), gemm.a.row_step, gemm.a.column_step}, product.rows, product.depth,
                 panel, kRegisterDepth<float>);
      product.c = sums + row * kSplitTile;
      multiply_panel(product);
    }
  }
}

/// Writes one tile of C, whose sums are complete.
void finish_tile(ScratchPool& pool, const GemmMatrices<float>& gemm, const Block& tile, const SplitExtents& rows,
                 const SplitExtents& columns, float* sums) {
  std::uint32_t doubts[kSplitTile];
  if (find_split_doubts({sums, tile.rows, tile.columns}, rows, columns, doubts)) {
    alignas(64) float anew[kTileSums];
    compute_anew(pool, gemm, tile, anew);
    // These alone: which sums share a tile must not show.
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      for (std::int64_t j = 0; j < tile.columns; ++j) {
        if ((doubts[i] >> j & 1U) != 0) sums[i * kSplitTile + j] = anew[i * kSplitTile + j];
      }
    }
  }
  for (std::int64_t i = 0; i < tile.rows; ++i)
    gemm.store_row(tile.row + i, tile.column, sums + i * kSplitTile, tile.columns);
}

void pack_slivers_of(const GemmMatrices<float>& gemm, const Block& block, std::int64_t p, std::int64_t depth,
                     const Workspace& workspace) {
  if (gemm.b.column_step == 1) {
    return pack_split_slivers(gemm.b.at(p, block.column), gemm.b.row_step, depth, block.columns, workspace.slivers(),
                              workspace.columns());
  }
  const std::int64_t sliver_bytes = ceil_div(depth, kSplitStep) * kSplitStepBytes;
  for (std::int64_t column = 0; column < block.columns; column += kSplitTile) {
    const std::int64_t sliver = column / kSplitTile;
    const std::int64_t columns = std::min(kSplitTile, block.columns - column);
    pack_slivers({gemm.b.at(p, block.column + column), gemm.b.row_step, gemm.b.column_step}, depth, columns,
                 workspace.turned(), kSplitTile);
    pack_split_slivers(workspace.turned(), kSplitTile, depth, columns, workspace.slivers() + sliver * sliver_bytes,
                       workspace.columns() + sliver);
  }
}

void pack_panel_of(const GemmMatrices<float>& gemm, std::int64_t row, std::int64_t rows, std::int64_t p,
                   std::int64_t depth, const Workspace& workspace, SplitExtents& extents) {
  if (gemm.a.column_step == 1) {
    return pack_split_rows(gemm.a.at(row, p), gemm.a.row_step, rows, depth, workspace.panel(), extents);
  }
  pack_panel({gemm.a.at(row, p), gemm.a.row_step, gemm.a.column_step}, rows, depth, workspace.turned(), kSplitDepth);
  pack_split_rows(workspace.turned(), kSplitDepth, rows, depth, workspace.panel(), extents);
}

/// The elements of A that a panel is packed from, as they lie in memory.
Prefetch source_of_panel(const ConstMatrix<float>& a, std::int64_t row, std::int64_t rows, std::int64_t p,
                         std::int64_t depth) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(float));
  if (a.column_step == 1) return {a.at(row, p), rows, depth * size, a.row_step * size};
  return {a.at(row, p), depth, rows * size, a.column_step * size};
}

void multiply_block(ScratchPool& pool, const GemmMatrices<float>& gemm, const Block& block,
                    const Workspace& workspace) {
  SplitProduct product;
  product.panel = workspace.panel();
  product.slivers = workspace.slivers();
  product.sliver_count = ceil_div(block.columns, kSplitTile);
  const std::int64_t panels = ceil_div(block.rows, kSplitTile);
  std::for_each_n(workspace.rows(), panels, [](SplitExtents& extents) { extents.clear(); });
  std::for_each_n(workspace.columns(), product.sliver_count, [](SplitExtents& extents) { extents.clear(); });
  for (std::int64_t p = 0; p < gemm.k; p += kSplitDepth) {
    const std::int64_t depth = std::min(kSplitDepth, gemm.k - p);
    product.steps = ceil_div(depth, kSplitStep);
    product.is_first = p == 0;
    pack_slivers_of(gemm, block, p, depth, workspace);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t first = panel * kSplitTile;
      const std::int64_t rows = std::min(kSplitTile, block.rows - first);
      pack_panel_of(gemm, block.row + first, rows, p, depth, workspace, workspace.rows()[panel]);
      product.sums = workspace.sums() + panel * product.sliver_count * kTileSums;
      product.next = Prefetch();
      if (panel + 1 < panels) {
        product.next = source_of_panel(gemm.a, block.row + first + kSplitTile,
                                       std::min(kSplitTile, block.rows - first - kSplitTile), p, depth);
      }
      multiply_split(product);
      if (p + depth < gemm.k) continue;
      for (std::int64_t sliver = 0; sliver < product.sliver_count; ++sliver) {
        const std::int64_t column = sliver * kSplitTile;
        const Block tile{block.row + first, block.column + column, rows, std::min(kSplitTile, block.columns - column)};
        finish_tile(pool, gemm, tile, workspace.rows()[panel], workspace.columns()[sliver],
                    product.sums + sliver * kTileSums);
      }
    }
  }
}

void multiply(Executor& executor, const GemmMatrices<float>& gemm, const Blocks& blocks) {
  if (gemm.k == 0) return scale_rows(executor, gemm);
  executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
    // Chunks below each other are taken as one, so that their columns of B are packed once.
    const std::int64_t most_rows = std::min({(last - first) * blocks.rows, gemm.m, kSplitMostRows});
    const Workspace workspace(executor.scratch(), most_rows, std::min(blocks.columns, gemm.n));
    while (first < last) {
      const std::int64_t down = first % blocks.down;
      const std::int64_t taken = std::min(last - first, blocks.down - down);
      const std::int64_t end = std::min((down + taken) * blocks.rows, gemm.m);
      const std::int64_t column = first / blocks.down * blocks.columns;
      for (std::int64_t row = down * blocks.rows; row < end; row += most_rows) {
        multiply_block(executor.scratch(), gemm,
                       {row, column, std::min(most_rows, end - row), std::min(blocks.columns, gemm.n - column)},
                       workspace);
      }
      first += taken;
    }
  });
}

backend::Verdict check(const Gemm& problem, const backend::Device&) {
  using backend::sentence;
  using backend::Verdict;
  if (problem.type != DataType::float32) {
    return Verdict::no(sentence("type of gemm is ", to_string(problem.type), ", but must be float32"));
  }
  if (problem.accuracy == Accuracy::strict) {
    return Verdict::no("the accuracy of gemm is strict, but split makes each product from six of shorter numbers");
  }
  if (!has_amx_bfloat16()) {
    return Verdict::no(sentence("kernels run with ", instruction_set(), " here, but split needs AMX-BF16"));
  }
  return Verdict::yes();
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning&) {
  const Blocks shared = split_blocks(problem, native(device).team());
  const Blocks alone = split_blocks(problem, Team());
  return std::make_unique<CpuTbbKernel>([=](Executor& executor, OperandAddresses operands) {
    compute_batch<float>(problem, executor, operands, BatchOrder::by_time, [&](Executor& own, const auto& gemm) {
      multiply(own, gemm, own.threads() == 1 ? alone : shared);
    });
  });
}

}  // namespace

backend::Variant<Gemm> gemm_split() {
  return {
      .name = "split",
      .summary = "float32 as sums of three bfloat16, six products by AMX's tiles, added up in float32",
      .check = check,
      .tunables = nullptr,
      .make = make,
      .error_factor_of = split_error_factor,
      .pays = split_pays,
  };
}

}  // namespace tessera::cpu_tbb
