// The variant "fused": distances as products in gemm's register tile, and the sums of a query kept while the training
// set passes by. Nothing of the size queries x training rows is ever written.
//
//     a block of training rows, packed             A chunk is a group of queries and a block of training rows. Dot
//     part of 256  part  ...                       products of the group with a part of the block stay in the second-
//     +-----------+-----------+------              level cache: |q|^2 + |t|^2 - 2 q t is the distance. Each query then
//  q  | products  |                                compares the least of the part with the least so far, scales its
//  .  | (14 x 32  |                                sums where the new one is nearer, and takes exponentials of the rows
//  .  |  tiles)   |                                that are near enough to count: with a large order, of few.
//     +-----------+
//       | least, sums                              The blocks' states are joined from the first to the last.
//       v
//     state of (query, block)
//
// Rows are centred first, so that lengths are as small as distances are, or nearly so: what is lost where two lengths
// and a product cancel is a few units in the last place of (|q| + |t|)^2.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_meeting.h"
#include "ops/kernel_regression/kernel_regression_rounds.h"
#include "ops/kernel_regression/kernel_regression_rows.h"
#include "ops/kernel_regression/kernel_regression_state.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Queries of a group: their numbers stay in the second-level cache, 440 KB in float for 784 columns, as do their
/// products with kRegressionPart training rows, 143 KB.
constexpr std::int64_t kRegressionGroup = 140;
constexpr std::int64_t kLeastGroup = 28;

/// The memory of one thread.
template <class T>
class Workspace {
 public:
  explicit Workspace(ScratchPool& pool)
      : loan_(pool, static_cast<std::size_t>((kRegressionGroup + 1) * kRegressionPart) * sizeof(T)) {
    dots = reinterpret_cast<T*>(loan_.data());
    weights = dots + kRegressionGroup * kRegressionPart;
  }
  T* dots;
  T* weights;

 private:
  ScratchPool::Loan loan_;
};

template <class T>
class FusedRegression {
 public:
  using Word = T;
  using Queries = PackedQueries<T>;

  explicit FusedRegression(const KernelRegression& problem) : problem_(problem), rows_(problem), meeting_(problem) {}

  [[nodiscard]] const RegressionRows<T>& rows() const noexcept { return rows_; }

  void compute(Executor& executor, const RegressionOperands<T>& regression) const {
    regress_in_rounds(executor, regression, meeting_.weight_of(), *this);
  }

  /// Of small sets so few that threads share them where queries are few. Slabs have those of the whole set.
  [[nodiscard]] std::int64_t block_rows() const noexcept {
    constexpr std::int64_t kBlocks = 8;
    static_assert(mathematics::kMostRegressionBlockRows % kRegressionPart == 0);
    const std::int64_t set_rows = problem_.is_slab ? problem_.set_rows : problem_.training_rows;
    if (set_rows == 0) return mathematics::kMostRegressionBlockRows;
    std::int64_t rows = kRegressionPart;
    while (rows < mathematics::kMostRegressionBlockRows && rows * kBlocks < set_rows) rows *= 2;
    return rows;
  }
  [[nodiscard]] static std::int64_t group() noexcept { return kRegressionGroup; }
  [[nodiscard]] static std::int64_t least_group() noexcept { return kLeastGroup; }
  static constexpr std::int64_t kChunks = 4;
  [[nodiscard]] Workspace<T> workspace(ScratchPool& pool) const { return Workspace<T>(pool); }

  /// Step after step, kRegisterDepth numbers for each.
  [[nodiscard]] std::int64_t query_words() const noexcept { return rows_.steps().parts * kRegisterDepth<T>; }
  /// Centred, as panels of the register tile read them. Its length is infinite where it has no part.
  void pack_query(const RegressionOperands<T>& regression, std::int64_t query, const Queries& to,
                  std::int64_t i) const noexcept {
    const T* const centre = rows_.centre(regression.training);
    const T* const numbers = regression.queries + query * problem_.columns;
    const bool counts = regression_row_counts(numbers, problem_.columns);
    T length = 0;
    for (std::int64_t step = 0; step < rows_.steps().parts; ++step) {
      T* const packed = to.numbers + (step * to.count + i) * kRegisterDepth<T>;
      for (std::int64_t p = 0; p < rows_.steps().size(step); ++p) {
        const std::int64_t j = rows_.steps().first(step) + p;
        packed[p] = counts ? numbers[j] - centre[j] : T(0);
        length += packed[p] * packed[p];
      }
    }
    to.lengths[i] = counts ? length : std::numeric_limits<T>::infinity();
  }

  void begin_block(const Workspace<T>& /*workspace*/, std::int64_t /*queries*/) const noexcept {}
  template <class State>
  void end_block(const RegressionOperands<T>& /*regression*/, const Workspace<T>& /*workspace*/,
                 std::int64_t /*block_row*/, std::int64_t /*queries*/, const State& /*state*/) const noexcept {}

  template <class State>
  void meet_part(const RegressionOperands<T>& regression, const Workspace<T>& workspace, const RegressionPart& part,
                 const Queries& queries, const State& state) const {
    // Rows that do not exist are infinitely far.
    const std::int64_t count = mathematics::ceil_div(part.count, kFoldStep) * kFoldStep;
    multiply(regression, workspace, part.first, count, queries);
    for (std::int64_t query = 0; query < queries.count; ++query) {
      meeting_.meet({.dots = workspace.dots + query * kRegressionPart,
                     .lengths = rows_.lengths(regression.training) + part.first,
                     .weights = workspace.weights,
                     .first = part.first,
                     .count = count,
                     .targets = regression.targets},
                    queries.lengths[query], state(query));
    }
  }

 private:
  /// A group's dot products with so many training rows, and with the others of their last sliver.
  void multiply(const RegressionOperands<T>& regression, const Workspace<T>& workspace, std::int64_t first_row,
                std::int64_t count, const Queries& queries) const {
    const auto panels = EqualParts::of_at_most(queries.count, register_tile<T>().rows);
    for (std::int64_t step = 0; step < rows_.steps().parts; ++step) {
      PanelProduct<T> product;
      product.b = rows_.sliver(regression.training, step, first_row);
      product.b_step = rows_.width();
      product.depth = rows_.steps().size(step);
      product.sliver_step = product.depth * rows_.width();
      product.ldc = kRegressionPart;
      product.columns = mathematics::ceil_div(count, rows_.width()) * rows_.width();
      product.alpha = T(1);
      product.beta = step == 0 ? T(0) : T(1);
      for (std::int64_t panel = 0; panel < panels.parts; ++panel) {
        product.a = queries.numbers + (step * queries.count + panels.first(panel)) * kRegisterDepth<T>;
        product.c = workspace.dots + panels.first(panel) * kRegressionPart;
        product.rows = panels.size(panel);
        multiply_panel(product);
      }
    }
  }

  KernelRegression problem_;
  RegressionRows<T> rows_;
  RegressionMeeting<T> meeting_;
};

template <class T>
std::unique_ptr<backend::Kernel> make(const KernelRegression& problem) {
  const auto fused = std::make_shared<const FusedRegression<T>>(problem);
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes = fused->rows().size_bytes();
  preparation.prepare = [fused](Executor& executor, const std::byte* raw, std::byte* prepared) {
    fused->rows().prepare(executor, reinterpret_cast<const T*>(raw), reinterpret_cast<T*>(prepared));
  };
  return std::make_unique<CpuTbbKernel>(
      [fused, problem](Executor& executor, OperandAddresses operands) {
        if (problem.queries > 0) fused->compute(executor, RegressionOperands<T>(problem, operands));
      },
      std::move(preparation));
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_fused() {
  return {
      .name = "fused",
      .summary = "products of centred rows in register tiles; the least distance and the sums pass by with them",
      .check =
          [](const KernelRegression& problem, const backend::Device&) {
            if (problem.type == DataType::uint8)
              return backend::Verdict::no(
                  "the rows of kernel_regression are uint8, but fused computes with float32 "
                  "or float64");
            if (problem.accuracy == Accuracy::strict)
              return backend::Verdict::no(
                  "the accuracy of kernel_regression is strict, but fused takes distances "
                  "from lengths and products");
            return backend::Verdict::yes();
          },
      .tunables = nullptr,
      .make = [](const KernelRegression& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        return problem.type == DataType::float32 ? make<float>(problem) : make<double>(problem);
      },
      .error_factor = 2,
  };
}

}  // namespace tessera::cpu_tbb
