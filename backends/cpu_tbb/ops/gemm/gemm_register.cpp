// The variant "register": C in blocks over the threads, in each a packed block of B that stays in the second-level
// cache and panels of A that pass through the first; the kernel keeps a tile of sums in registers
// (gemm_register_kernel.cpp).
//
//                          block of C: its columns of B, packed once per step of k into slivers, <= 270 KiB
//                      k step  +------+------+------+------+
//                              |sliver|      |      |      |
//     A panel, packed          +------+------+------+------+        An element of B is read from memory once for each
//     +-----------+            +------+------+------+------+        block in its columns of C, an element of A once for
//     | 14 rows   |            | tile | tile | tile | tile |        each block in its rows. Packing A and B for a block
//     +-----------+            +------+------+------+------+        takes as long as computing a few rows and columns,
//     | next panel|            |      |      |      |      |        so blocks are as large as the number of threads
//                                                                   allows.
//
// Narrow blocks read panels of A where they lie (gemm_register_in_place.cpp). With B transposed the transpose of C may
// be computed instead (gemm_register_turn.cpp): its sums are kept in scratch memory and turned when a panel is stored.
//
// B is packed in passing: the first panel of a block reads B where it is, and its product leaves a packed copy for the
// other panels. The products are the same either way. The sum of an element of C is taken over p in order, in equal
// steps of at most most_depth(), which depend on the problem alone. So the blocks, which depend on the number of
// threads, do not change a bit of the result.
//
// alpha belongs to the whole sum: the part of one step, times alpha, may leave the type's range where the sum does not.
// So with several steps, and an alpha that is not 1 or -1, the sums grow unscaled, in C if beta is 0 and else in memory
// of their own, and are scaled when a panel's last step has left them in the cache.
#include <algorithm>
#include <memory>
#include <utility>

#include "cpu_tbb_device.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_register_blocks.h"
#include "ops/gemm/gemm_register_kernel.h"
#include "ops/gemm/gemm_register_steps.h"
#include "ops/gemm/gemm_register_turn.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// The most bytes of packed B in a block: they stay in a second-level cache of 1 MiB beside what the next step of k is
/// packed from, which is fetched meanwhile. On two cores of an EPYC with AVX-512 71 x 1276 x 545 floats take 280 us
/// with 600 KiB, 255 with 270 and 245 with 200, and 2000 x 2000 x 500 takes 8.2, 8.3 and 8.4 ms (without a file).
constexpr std::int64_t kPackedBytes = 270 * 1024;
template <class T>
constexpr std::int64_t kMostColumns = kPackedBytes / static_cast<std::int64_t>(sizeof(T)) / kRegisterDepth<T>;

/// A block's sums stay in the second-level cache: 128 KiB in float32.
constexpr std::int64_t kRowsOfTurnedBlock = 512;

/// How C is cut into chunks, for all threads of the device and for one. Made once, with the kernel: trying the grids
/// takes some microseconds.
class Plan {
 public:
  Plan(const Gemm& problem, const Team& team, Turn turn)
      : tile_(problem.type == DataType::float32 ? register_tile<float>() : register_tile<double>()),
        shared_(blocks_for(problem, team, turn)),
        alone_(blocks_for(problem, Team(), turn)) {}
  [[nodiscard]] const RegisterTile& tile() const noexcept { return tile_; }
  [[nodiscard]] const Blocks& blocks(int threads) const noexcept { return threads == 1 ? alone_ : shared_; }

 private:
  [[nodiscard]] Blocks blocks_for(const Gemm& problem, const Team& team, Turn turn) const {
    const std::int64_t most_columns = problem.type == DataType::float32 ? kMostColumns<float> : kMostColumns<double>;
    if (turn == Turn::none) return register_blocks(problem.m, problem.n, problem.k, tile_, most_columns, team);
    Blocks blocks = register_blocks(problem.n, problem.m, problem.k, tile_, most_columns, team);
    if (turn == Turn::column || blocks.rows <= kRowsOfTurnedBlock) return blocks;
    const std::int64_t cuts = mathematics::ceil_div(blocks.rows, kRowsOfTurnedBlock);
    blocks.rows = mathematics::ceil_div(blocks.rows, cuts);
    blocks.down = mathematics::ceil_div(problem.n, blocks.rows);
    return blocks;
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
SumsIn place_of_sums(const GemmMatrices<T>& gemm, Turn turn) {
  if (turn == Turn::whole) return SumsIn::scratch_scaled;
  if (gemm.k <= kRegisterDepth<T> || gemm.alpha == T(1) || gemm.alpha == T(-1)) return SumsIn::result;
  return gemm.beta == T(0) ? SumsIn::result_scaled : SumsIn::scratch_scaled;
}

template <class T>
void multiply_block(const GemmMatrices<T>& gemm, const RegisterTile& tile, const RegisterBlock& block,
                    RegisterWorkspace<T>& workspace, Turn turn, RegisterColumns behind) {
  const SumsIn place = place_of_sums(gemm, turn);
  RegisterTarget<T> target{gemm.c + (block.row * gemm.ldc + block.column), gemm.ldc};
  if (place == SumsIn::scratch_scaled) target = {workspace.sums(), block.columns};
  target.is_scaled_after = place != SumsIn::result;
  target.is_turned = turn == Turn::whole;
  const T alpha = place == SumsIn::result ? gemm.alpha : T(1);
  const T beta = place == SumsIn::result ? gemm.beta : T(0);
  multiply_steps<T>(gemm, tile, block, 0, gemm.k, alpha, beta, workspace, target, behind);
}

template <class T>
void multiply(Executor& executor, const GemmMatrices<T>& gemm, const Plan& plan, Turn turn) {
  const RegisterTile& tile = plan.tile();
  const Blocks& blocks = plan.blocks(executor.threads());
  executor.parallel_for(blocks.down * blocks.across, [&](std::int64_t first, std::int64_t last) {
    // Chunks below each other are taken as one, so that their columns of B are packed once. Where sums are turned they
    // are not, so that these stay in the cache.
    const std::int64_t most_taken = turn == Turn::whole ? 1 : blocks.down;
    const std::int64_t most_rows = std::min(std::min(last - first, most_taken) * blocks.rows, gemm.m);
    const std::int64_t sums = place_of_sums(gemm, turn) == SumsIn::scratch_scaled ? most_rows * blocks.columns : 0;
    RegisterWorkspace<T> workspace(executor, gemm, tile, {0, 0, most_rows, blocks.columns}, sums);
    while (first < last) {
      const std::int64_t row_number = first % blocks.down;
      const std::int64_t taken = std::min({last - first, most_taken, blocks.down - row_number});
      RegisterBlock block{row_number * blocks.rows, first / blocks.down * blocks.columns, 0, 0};
      block.rows = std::min(taken * blocks.rows, gemm.m - block.row);
      block.columns = std::min(blocks.columns, gemm.n - block.column);
      first += taken;
      // What comes next here most often, though another thread may take it.
      RegisterColumns behind;
      if (first < blocks.down * blocks.across) behind.first = first / blocks.down * blocks.columns;
      if (behind.first > block.column) behind.count = std::min(blocks.columns, gemm.n - behind.first);
      multiply_block(gemm, tile, block, workspace, turn, behind);
    }
  });
}

template <class T>
GemmMatrices<T> turned(GemmMatrices<T> gemm, Turn turn) {
  std::swap(gemm.m, gemm.n);
  std::swap(gemm.a, gemm.b);
  std::swap(gemm.a.row_step, gemm.a.column_step);
  std::swap(gemm.b.row_step, gemm.b.column_step);
  if (turn == Turn::column) gemm.ldc = gemm.n;
  return gemm;
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning&) {
  const Turn turn = turn_of(problem);
  const Plan plan(problem, native(device).team(), turn);
  return make_gemm_kernel(problem, [plan, turn](Executor& executor, const auto& gemm) {
    if (gemm.m == 0 || gemm.n == 0) return;
    if (gemm.k == 0) return scale_rows(executor, gemm);
    multiply(executor, turn == Turn::none ? gemm : turned(gemm, turn), plan, turn);
  });
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
