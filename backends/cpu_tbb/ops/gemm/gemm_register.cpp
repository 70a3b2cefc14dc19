// The variant "register": C in blocks over the threads, in each a packed block of B that stays in the second-level
// cache and panels of A that pass through the first; the kernel keeps a tile of sums in registers
// (gemm_register_kernel.cpp).
//
//                          block of C: its columns of B, packed once per step of k into slivers, <= 768 KiB
//                      k step  +------+------+------+------+
//                              |sliver|      |      |      |
//     A panel, packed          +------+------+------+------+        An element of B is read from memory once for each
//     +-----------+            +------+------+------+------+        block in its columns of C, an element of A once for
//     | 14 rows   |            | tile | tile | tile | tile |        each block in its rows. Packing A and B for a block
//     +-----------+            +------+------+------+------+        takes as long as computing a few rows and columns,
//     | next panel|            |      |      |      |      |        so blocks are as large as the number of threads
//                                                                   allows.
//
// B is packed in passing: the first panel of a block reads B where it is, and its product leaves a packed copy for the
// other panels. The products are the same either way. The sum of an element of C is taken over p in order, in equal
// steps of at most kRegisterDepth, which depend on k alone. So the blocks, which depend on the number of threads, do
// not change a bit of the result.
//
// alpha belongs to the whole sum: the part of one step, times alpha, may leave the type's range where the sum does not.
// So with several steps, and an alpha that is not 1 or -1, the sums grow unscaled, in C if beta is 0 and else in memory
// of their own, and are scaled when a panel's last step has left them in the cache.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "cpu_tbb_device.h"
#include "mathematics/division.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_blocks.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_pack.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The most bytes of packed B in a block: it stays in a second-level cache of 1 MiB. One Zen 4 core is as fast with
/// more at 1024 x 1024 x 1024, and up to 4 % slower with 512 KiB.
constexpr std::int64_t kPackedBytes = 768 * 1024;
/// A block with up to this many panels reads B where it is and makes no packed copy, because too few panels would use
/// it. That matters for the smallest products alone: 32 x 32 x 32 floats ran at 108 GFLOP/s on one core of a Xeon, and
/// at 98 with a copy.
constexpr std::int64_t kPanelsInPlace = 5;

template <class T>
constexpr std::int64_t kMostColumns = kPackedBytes / static_cast<std::int64_t>(sizeof(T)) / kRegisterDepth<T>;

/// How C is cut into chunks, for all threads of the device and for one. Made once, with the kernel: trying the grids
/// takes some microseconds.
class Plan {
 public:
  Plan(const Gemm& problem, const Team& team)
      : tile_(problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>()),
        shared_(blocks_for(problem, team)),
        alone_(blocks_for(problem, Team())) {}
  [[nodiscard]] const RegisterTile& tile() const noexcept { return tile_; }
  [[nodiscard]] const Blocks& blocks(int threads) const noexcept { return threads == 1 ? alone_ : shared_; }

 private:
  [[nodiscard]] Blocks blocks_for(const Gemm& problem, const Team& team) const {
    const std::int64_t most_columns = problem.type == DataType::float32 ? kMostColumns<float> : kMostColumns<double>;
    return register_blocks(problem.m, problem.n, problem.k, tile_, most_columns, team);
  }

  RegisterTile tile_;
  Blocks shared_;
  Blocks alone_;
};

/// Where the sums of C are kept from one step of k to the next.
enum class SumsIn {
  result,         ///< in C: each step adds alpha times its part to beta * C
  result_scaled,  ///< in C without alpha, which is applied after the last step
  scratch_scaled  ///< in scratch memory without alpha, because C is still needed for beta * C
};
template <class T>
SumsIn place_of_sums(const GemmMatrices<T>& gemm) {
  if (gemm.k <= kRegisterDepth<T> || gemm.alpha == T(1) || gemm.alpha == T(-1)) return SumsIn::result;
  return gemm.beta == T(0) ? SumsIn::result_scaled : SumsIn::scratch_scaled;
}

/// The memory that one thread works in: a panel of A, the slivers of B of one block, and its sums if they need any.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, const RegisterTile& tile, std::int64_t columns, std::int64_t depth, std::int64_t sums)
      : panel_count_(tile.rows * kRegisterDepth<T>),
        sliver_count_(depth * columns),
        loan_(pool, sizeof(T) * static_cast<std::size_t>(panel_count_ + sliver_count_ + sums)) {}
  [[nodiscard]] T* panel() const noexcept { return reinterpret_cast<T*>(loan_.data()); }
  [[nodiscard]] T* slivers() const noexcept { return panel() + panel_count_; }
  [[nodiscard]] T* sums() const noexcept { return slivers() + sliver_count_; }

 private:
  std::int64_t panel_count_;
  std::int64_t sliver_count_;
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

/// Where a step adds its sums: the block's first element, in C or in scratch memory.
template <class T>
struct Target {
  T* first = nullptr;
  std::int64_t row_step = 0;
  bool is_scaled_after = false;  ///< this is the last step, and its sums are multiplied by alpha after it
};

/// One step of k for one block, added to product.beta times what stands there.
template <class T>
void multiply_step(const GemmMatrices<T>& gemm, const RegisterTile& tile, const Block& block, std::int64_t p,
                   PanelProduct<T> product, const Workspace<T>& workspace, const Target<T>& target) {
  const std::int64_t panels = mathematics::ceil_div(block.rows, tile.rows);
  // Whole slivers whose rows lie in memory as they are read need no packing of their own: the first panel's product
  // reads them where they are, and leaves a packed copy for the others.
  const std::int64_t whole = gemm.b.column_step == 1 ? block.columns - block.columns % tile.columns : 0;
  const auto slivers_from = [&](std::int64_t column) { return workspace.slivers() + column * product.depth; };
  if (whole < block.columns)
    pack_slivers({gemm.b.at(p, block.column + whole), gemm.b.row_step, gemm.b.column_step}, product.depth,
                 block.columns - whole, slivers_from(whole), tile.columns);
  product.a = workspace.panel();
  product.ldc = target.row_step;
  std::int64_t row = block.row;
  for (std::int64_t panel = 0; panel < panels; ++panel, row += product.rows) {
    // Panels of nearly equal height, not whole ones and a rest: fewer than 4 rows are too few sums to hide the latency.
    product.rows = block.rows / panels + (panel < block.rows % panels ? 1 : 0);
    pack_panel({gemm.a.at(row, p), gemm.a.row_step, gemm.a.column_step}, product.rows, product.depth, workspace.panel(),
               kRegisterDepth<T>);
    product.next = panel + 1 < panels ? source_of_panel(gemm.a, row + product.rows, p, product) : Prefetch();
    T* const sums = target.first + (row - block.row) * target.row_step;
    const std::int64_t in_place = panel == 0 || panels <= kPanelsInPlace ? whole : 0;
    if (in_place > 0) {
      product.b = gemm.b.at(p, block.column);
      product.b_step = gemm.b.row_step;
      product.sliver_step = tile.columns;
      product.packed = panels > kPanelsInPlace ? slivers_from(0) : nullptr;
      product.c = sums;
      product.columns = in_place;
      multiply_panel(product);
    }
    if (in_place < block.columns) {
      product.b = slivers_from(in_place);
      product.b_step = tile.columns;
      product.sliver_step = tile.columns * product.depth;
      product.packed = nullptr;
      product.c = sums + in_place;
      product.columns = block.columns - in_place;
      multiply_panel(product);
    }
    for (std::int64_t i = 0; target.is_scaled_after && i < product.rows; ++i)
      gemm.store_row(row + i, block.column, sums + i * target.row_step, block.columns);
  }
}

template <class T>
void multiply_block(const GemmMatrices<T>& gemm, const RegisterTile& tile, const Block& block,
                    const Workspace<T>& workspace) {
  const std::int64_t steps = mathematics::ceil_div(gemm.k, kRegisterDepth<T>);
  const std::int64_t depth = mathematics::ceil_div(gemm.k, steps);
  const SumsIn place = place_of_sums(gemm);
  Target<T> target{gemm.c + (block.row * gemm.ldc + block.column), gemm.ldc};
  if (place == SumsIn::scratch_scaled) target = {workspace.sums(), block.columns};
  PanelProduct<T> product;
  product.alpha = place == SumsIn::result ? gemm.alpha : T(1);
  product.beta = place == SumsIn::result ? gemm.beta : T(0);
  for (std::int64_t p = 0; p < gemm.k; p += depth) {
    product.depth = std::min(depth, gemm.k - p);
    target.is_scaled_after = place != SumsIn::result && p + depth >= gemm.k;
    multiply_step(gemm, tile, block, p, product, workspace, target);
    product.beta = T(1);
  }
}

template <class T>
void multiply(Executor& executor, const GemmMatrices<T>& gemm, const Plan& plan) {
  if (gemm.m == 0 || gemm.n == 0) return;
  if (gemm.k == 0) return scale_rows(executor, gemm);
  const RegisterTile& tile = plan.tile();
  const Blocks& blocks = plan.blocks(executor.threads());
  executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
    // Chunks below each other are taken as one, so that their columns of B are packed once.
    const std::int64_t most_rows = std::min(std::min(last - first, blocks.down) * blocks.rows, gemm.m);
    const std::int64_t sums = place_of_sums(gemm) == SumsIn::scratch_scaled ? most_rows * blocks.columns : 0;
    const Workspace<T> workspace(executor.scratch(), tile, blocks.columns, std::min(kRegisterDepth<T>, gemm.k), sums);
    while (first < last) {
      const std::int64_t row_number = first % blocks.down;
      const std::int64_t taken = std::min(last - first, blocks.down - row_number);
      Block block{row_number * blocks.rows, first / blocks.down * blocks.columns, 0, 0};
      block.rows = std::min(taken * blocks.rows, gemm.m - block.row);
      block.columns = std::min(blocks.columns, gemm.n - block.column);
      multiply_block(gemm, tile, block, workspace);
      first += taken;
    }
  });
}

/// C of one column without gaps is computed as a row instead: its transpose is op(B)' * op(A)', in which a transposed A
/// is read along its stored rows.
bool is_column_to_turn(const Gemm& problem) {
  return problem.n == 1 && problem.ldc == 1 && problem.transpose_a;
}
template <class T>
GemmMatrices<T> turned(GemmMatrices<T> gemm) {
  std::swap(gemm.m, gemm.n);
  std::swap(gemm.a, gemm.b);
  std::swap(gemm.a.row_step, gemm.a.column_step);
  std::swap(gemm.b.row_step, gemm.b.column_step);
  gemm.ldc = gemm.n;
  return gemm;
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning&) {
  const Team team = native(device).team();
  if (!is_column_to_turn(problem)) {
    const Plan plan(problem, team);
    return make_gemm_kernel(problem, [plan](Executor& executor, const auto& gemm) { multiply(executor, gemm, plan); });
  }
  Gemm row = problem;
  std::swap(row.m, row.n);
  const Plan plan(row, team);
  return make_gemm_kernel(problem,
                          [plan](Executor& executor, const auto& gemm) { multiply(executor, turned(gemm), plan); });
}

}  // namespace

backend::Variant<Gemm> gemm_register() {
  return {
      .name = "register",
      .summary = "packed panels, a tile of sums in vector registers, blocks of C spread over the threads",
      .check = [](const Gemm&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make = make,
  };
}

}  // namespace tessera::cpu_tbb
