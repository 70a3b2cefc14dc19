// The variant "register": C in blocks over the threads, in each a packed block of B that stays in the second-level
// cache and panels of A that pass through the first; the kernel keeps a tile of sums in registers
// (gemm_register_kernel.cpp).
//
//                          block of C: its columns of B, packed once per step of k into slivers, <= 768 KiB
//                      k step  +------+------+------+------+
//                              |sliver|      |      |      |
//     A panel, packed          +------+------+------+------+        An element of B is read from memory once for every
//     +-----------+            +------+------+------+------+        block of C beneath it, an element of A once for
//     every | 14 rows   |            | tile | tile | tile | tile |        block beside it. Both copies cost what a row
//     or
//     +-----------+            +------+------+------+------+        column of a few tiles costs, so blocks are as large
//     | next panel|            |      |      |      |      |        as the number of threads allows.
//
// The sum of an element of C is taken over p in order, in equal steps of at most kRegisterDepth. These depend on k
// alone, and the blocks, which depend on the number of threads, change no bit.
#include <algorithm>
#include <cstddef>

#include "ops/gemm/gemm_matrices.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

// Of B, so that it stays in a second-level cache of 1 MiB. On one Zen 4 core at 1024 in float and double: 103.9
// and 49.1 GFLOP/s with 512 KiB, 104.4 and 51.1 with 768, no more with 896.
constexpr std::int64_t kPackedBytes = 768 * 1024;
constexpr std::int64_t kChunksPerThread = 4;  // for balance; more would pack B more often
/// Below this many panels, B is read where it is: packing would cost more than it saves.
constexpr std::int64_t kPanelsWorthPacking = 3;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

/// How C is cut into chunks: `down` x `across` blocks whose borders are those of register tiles.
struct Blocks {
  template <class T>
  static Blocks of(const GemmMatrices<T>& gemm, const RegisterTile& tile, int threads) {
    const std::int64_t packed_columns = kPackedBytes / static_cast<std::int64_t>(sizeof(T)) / kRegisterDepth<T>;
    const std::int64_t tiles_down = divide_up(gemm.m, tile.rows);
    const std::int64_t tiles_across = divide_up(gemm.n, tile.columns);
    std::int64_t down = 1;
    std::int64_t across = divide_up(gemm.n, packed_columns);
    const std::int64_t wanted = threads == 1 ? 1 : std::min(kChunksPerThread * threads, work_chunks(gemm));
    while (down * across < wanted) {
      // Halve the longer side, in elements; a side of one tile cannot be cut.
      const bool cut_rows = gemm.m / down >= gemm.n / across ? 2 * down <= tiles_down : 2 * across > tiles_across;
      if (cut_rows && 2 * down > tiles_down) break;
      (cut_rows ? down : across) *= 2;
    }
    Blocks blocks;
    blocks.rows = divide_up(tiles_down, down) * tile.rows;
    blocks.columns = divide_up(tiles_across, across) * tile.columns;
    blocks.down = divide_up(gemm.m, blocks.rows);
    blocks.across = divide_up(gemm.n, blocks.columns);
    return blocks;
  }
  /// A chunk of less than 2^19 multiply-adds, some 10 microseconds, is not worth a hand-over to another thread.
  template <class T>
  static std::int64_t work_chunks(const GemmMatrices<T>& gemm) {
    constexpr double kSmallestChunk = 1 << 19;
    const double products = static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
    return products >= kSmallestChunk * 1e6 ? 1000000 : static_cast<std::int64_t>(products / kSmallestChunk);
  }

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t down = 0;
  std::int64_t across = 0;
};

/// The memory that one thread works in: a panel of A and the slivers of B of one block.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, const RegisterTile& tile, std::int64_t columns, std::int64_t depth)
      : panel_count_(tile.rows * kRegisterDepth<T>),
        loan_(pool, sizeof(T) * static_cast<std::size_t>(panel_count_ + depth * columns)) {}
  [[nodiscard]] T* panel() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* slivers() const noexcept { return panel() + panel_count_; }

 private:
  std::int64_t panel_count_;
  ScratchPool::Loan loan_;
};

/// A rectangle of C.
struct Block {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// The elements of A that a panel of the product's size is packed from, as they lie in memory.
template <class T>
Prefetch source_of_panel(const ConstMatrix<T>& a, std::int64_t row, std::int64_t p, const PanelProduct<T>& product) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  if (a.column_step == 1) return {a.at(row, p), product.rows, product.depth * size, a.row_step * size};
  return {a.at(row, p), product.depth, product.rows * size, a.column_step * size};
}

/// One step of k for one block, added to beta * C.
template <class T>
void multiply_step(const GemmMatrices<T>& gemm, const RegisterTile& tile, const Block& block, std::int64_t p,
                   PanelProduct<T> product, const Workspace<T>& workspace) {
  const std::int64_t panels = divide_up(block.rows, tile.rows);
  // Slivers that are read in place are whole, so that no read leaves B.
  const bool in_place = panels < kPanelsWorthPacking && gemm.b.column_step == 1;
  const std::int64_t left = in_place ? block.columns - block.columns % tile.columns : 0;
  const ConstMatrix<T> to_pack{gemm.b.at(p, block.column + left), gemm.b.row_step, gemm.b.column_step};
  if (left < block.columns)
    pack_slivers(to_pack, product.depth, block.columns - left, workspace.slivers(), tile.columns);
  product.a = workspace.panel();
  product.ldc = gemm.ldc;
  std::int64_t row = block.row;
  for (std::int64_t panel = 0; panel < panels; ++panel, row += product.rows) {
    // Panels of nearly equal height, not whole ones and a rest: fewer than 4 rows are too few sums to hide the latency.
    product.rows = block.rows / panels + (panel < block.rows % panels ? 1 : 0);
    pack_panel({gemm.a.at(row, p), gemm.a.row_step, gemm.a.column_step}, product.rows, product.depth, workspace.panel(),
               kRegisterDepth<T>);
    product.next = panel + 1 < panels ? source_of_panel(gemm.a, row + product.rows, p, product) : Prefetch();
    if (left > 0) {
      product.b = gemm.b.at(p, block.column);
      product.b_step = gemm.b.row_step;
      product.sliver_step = tile.columns;
      product.c = gemm.c + (row * gemm.ldc + block.column);
      product.columns = left;
      multiply_panel(product);
    }
    if (left < block.columns) {
      product.b = workspace.slivers();
      product.b_step = tile.columns;
      product.sliver_step = tile.columns * product.depth;
      product.c = gemm.c + (row * gemm.ldc + block.column + left);
      product.columns = block.columns - left;
      multiply_panel(product);
    }
  }
}

template <class T>
void multiply_block(const GemmMatrices<T>& gemm, const RegisterTile& tile, const Block& block,
                    const Workspace<T>& workspace) {
  const std::int64_t steps = divide_up(gemm.k, kRegisterDepth<T>);
  const std::int64_t depth = divide_up(gemm.k, steps);
  PanelProduct<T> product;
  product.alpha = gemm.alpha;
  product.beta = gemm.beta;
  for (std::int64_t p = 0; p < gemm.k; p += depth) {
    product.depth = std::min(depth, gemm.k - p);
    multiply_step(gemm, tile, block, p, product, workspace);
    product.beta = T(1);
  }
}

template <class T>
void multiply(Executor& executor, const GemmMatrices<T>& gemm) {
  if (gemm.m == 0 || gemm.n == 0) return;
  if (gemm.k == 0) {
    return executor.parallel_for(gemm.m, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) gemm.scale_row(row);
    });
  }
  const RegisterTile tile = register_tile<T>();
  const Blocks blocks = Blocks::of(gemm, tile, executor.threads());
  executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
    const Workspace<T> workspace(executor.scratch(), tile, blocks.columns, std::min(kRegisterDepth<T>, gemm.k));
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      Block block{chunk % blocks.down * blocks.rows, chunk / blocks.down * blocks.columns, 0, 0};
      block.rows = std::min(blocks.rows, gemm.m - block.row);
      block.columns = std::min(blocks.columns, gemm.n - block.column);
      multiply_block(gemm, tile, block, workspace);
    }
  });
}

}  // namespace

backend::Variant<Gemm> gemm_register() {
  return {
      .name = "register",
      .summary = "packed panels, a tile of sums in vector registers, blocks of C spread over the threads",
      .check = [](const Gemm&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning&) {
            return make_gemm_kernel(problem, [](Executor& executor, const auto& gemm) { multiply(executor, gemm); });
          },
  };
}

}  // namespace tessera::cpu_tbb
