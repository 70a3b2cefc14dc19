// The variant "tiled": C in blocks, one block a chunk, in it tiles of `tile` rows, columns and depth that are packed
// so that the innermost loops run in the first-level cache.
//
//                     B: tile of p x all columns of the block, packed once per block and step of p
//                        +----+----+----+----+
//                   tile |    |    |    |    |        A block has up to 128 x 256 sums, kept apart from C until
//                        +----+----+----+----+        k is through. For every step of `tile` in p:
//    A: tile x tile     _________________________      - B's tiles are packed for all its columns,
//       +----+    tile | sum| sum| sum| sum| ...       - each tile of A is packed and multiplied with them all.
//       |    |         |----+----+----+----+           So an element of B is read from memory once for every
//       +----+         | ...                           128 rows and an element of A once for every 256 columns of
//       |    |         |   block of sums, <= 128 x 256 C, in whole tile rows; packing also turns transposed
//       +----+         |                               operands, and ends the cache conflicts of rows that lie a
//       ...                                            power of two apart.
//
// Blocks are smaller where C would give fewer than 64 of them, but depend on the problem alone: with the sums over p in
// order, the result's bits depend on neither threads nor tile. Edges: packed tiles are filled up with zeros; only
// sums inside C are stored.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_tiled_multiply.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

constexpr std::int64_t kTiles[] = {4, 8, 16, 32};
constexpr std::int64_t kLargestTile = 32;

/// How C is cut into chunks.
struct Blocks {
  Blocks(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t kEnough = 64;  // chunks to keep some tens of threads busy
    while (mathematics::ceil_div(m, rows) < mathematics::ceil_div(kEnough, mathematics::ceil_div(n, columns)) &&
           rows > kLargestTile)
      rows /= 2;
    while (mathematics::ceil_div(n, columns) < mathematics::ceil_div(kEnough, mathematics::ceil_div(m, rows)) &&
           columns > 2 * kLargestTile)
      columns /= 2;
    down = mathematics::ceil_div(m, rows);
    across = mathematics::ceil_div(n, columns);
  }
  std::int64_t rows = 128;
  std::int64_t columns = 256;
  std::int64_t down = 0;
  std::int64_t across = 0;
};

/// The memory that one thread works in, cut from one loan.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, std::int64_t rows, std::int64_t columns, std::int64_t tile)
      : sums_count_(mathematics::round_up(rows, kRowGroup) * mathematics::round_up(columns, tile)),
        b_count_(tile * mathematics::round_up(columns, tile)),
        loan_(pool, sizeof(T) * static_cast<std::size_t>(sums_count_ + b_count_ + tile * tile)) {}
  [[nodiscard]] T* sums() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* packed_b() const noexcept { return sums() + sums_count_; }
  [[nodiscard]] T* packed_a() const noexcept { return packed_b() + b_count_; }

 private:
  std::int64_t sums_count_;
  std::int64_t b_count_;
  ScratchPool::Loan loan_;
};

/// Packs `depth` x `columns` elements of B from (p, column) on, tile after tile, columns filled up with zeros.
template <class T>
void pack_b(const ConstMatrix<T>& b, std::int64_t p, std::int64_t column, std::int64_t depth, std::int64_t columns,
            std::int64_t tile, T* packed) {
  for (std::int64_t left = 0; left < columns; left += tile, packed += tile * tile) {
    const std::int64_t width = std::min(tile, columns - left);
    if (width < tile) std::fill_n(packed, depth * tile, T(0));
    if (b.column_step == 1) {
      for (std::int64_t d = 0; d < depth; ++d) std::copy_n(b.at(p + d, column + left), width, packed + d * tile);
    } else {
      for (std::int64_t j = 0; j < width; ++j) {
        const T* const source = b.at(p, column + left + j);
        for (std::int64_t d = 0; d < depth; ++d) packed[d * tile + j] = source[d * b.row_step];
      }
    }
  }
}

/// Packs `rows` x `depth` elements of A from (row, p) on, rows filled up with zeros to a multiple of kRowGroup. Keeps
/// the direction that A is stored in; the product is told the steps.
template <class T>
void pack_a(const ConstMatrix<T>& a, std::int64_t row, std::int64_t p, std::int64_t rows, std::int64_t depth,
            std::int64_t tile, T* packed, TileProduct<T>& product) {
  const bool along_rows = a.column_step == 1;
  product.a = packed;
  product.a_row_step = along_rows ? tile : 1;
  product.a_depth_step = along_rows ? 1 : tile;
  product.rows = mathematics::round_up(rows, kRowGroup);
  if (product.rows > rows) std::fill_n(packed, tile * tile, T(0));
  if (along_rows) {
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(a.at(row + i, p), depth, packed + i * tile);
  } else {
    for (std::int64_t d = 0; d < depth; ++d) std::copy_n(a.at(row, p + d), rows, packed + d * tile);
  }
}

/// The block of C whose first element is (row, column).
template <class T>
void multiply_block(const GemmMatrices<T>& gemm, std::int64_t row, std::int64_t column, std::int64_t rows,
                    std::int64_t columns, std::int64_t tile, const Workspace<T>& workspace) {
  TileProduct<T> product;
  product.tile = tile;
  product.columns = mathematics::round_up(columns, tile);
  product.sums_row_step = product.columns;
  std::fill_n(workspace.sums(), mathematics::round_up(rows, kRowGroup) * product.columns, T(0));
  for (std::int64_t p = 0; p < gemm.k; p += tile) {
    product.depth = std::min(tile, gemm.k - p);
    product.b = workspace.packed_b();
    pack_b(gemm.b, p, column, product.depth, columns, tile, workspace.packed_b());
    for (std::int64_t top = 0; top < rows; top += tile) {
      pack_a(gemm.a, row + top, p, std::min(tile, rows - top), product.depth, tile, workspace.packed_a(), product);
      product.sums = workspace.sums() + top * product.sums_row_step;
      multiply_tiles(product);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    gemm.store_row(row + i, column, workspace.sums() + i * product.sums_row_step, columns);
}

template <class T>
void multiply(Executor& executor, const GemmMatrices<T>& gemm, std::int64_t tile) {
  if (gemm.m == 0 || gemm.n == 0) return;
  if (gemm.k == 0) return scale_rows(executor, gemm);
  const Blocks blocks(gemm.m, gemm.n);
  // Neighbouring chunks share columns of B, which a thread's caches keep.
  executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
    const Workspace<T> workspace(executor.scratch(), std::min(blocks.rows, gemm.m), std::min(blocks.columns, gemm.n),
                                 tile);
    for (std::int64_t chunk = first; chunk < last; ++chunk) {
      const std::int64_t row = chunk % blocks.down * blocks.rows;
      const std::int64_t column = chunk / blocks.down * blocks.columns;
      multiply_block(gemm, row, column, std::min(blocks.rows, gemm.m - row), std::min(blocks.columns, gemm.n - column),
                     tile, workspace);
    }
  });
}

std::vector<Tunable> tunables(const Gemm&, const backend::Device&) {
  return {{"tile",
           "rows, columns and depth of the tiles that are multiplied in the first-level cache",
           {std::begin(kTiles), std::end(kTiles)},
           kLargestTile}};
}

}  // namespace

backend::Variant<Gemm> gemm_tiled() {
  return {
      .name = "tiled",
      .summary = "packed tiles in the first-level cache, vectors, blocks of C spread over the threads",
      .check = [](const Gemm&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = tunables,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning& tuning) {
            return make_gemm_kernel(problem, [tile = tuning.at("tile")](Executor& executor, const auto& gemm) {
              multiply(executor, gemm, tile);
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
