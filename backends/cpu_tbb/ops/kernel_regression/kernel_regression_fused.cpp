// The variant "fused": distances as products in gemm's register tile, and the sums of a query kept while the training
// set passes by. Nothing of the size queries x training rows is ever written.
//
//     a block of 2048 training rows, packed        A chunk is a group of queries and a block of training rows. Dot
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

/// The memory of one thread.
template <class T>
class Workspace {
 public:
  Workspace(ScratchPool& pool, std::int64_t steps)
      : loan_(pool, static_cast<std::size_t>((steps * kRegisterDepth<T> + kRegressionPart + 1) * kRegressionGroup +
                                             kRegressionPart) *
                        sizeof(T)) {
    queries = reinterpret_cast<T*>(loan_.data());
    dots = queries + steps * kRegressionGroup * kRegisterDepth<T>;
    weights = dots + kRegressionGroup * kRegressionPart;
    lengths = weights + kRegressionPart;
  }
  T* queries;  ///< of a group, step after step, kRegisterDepth numbers for each
  T* dots;
  T* weights;
  T* lengths;  ///< of the queries; infinite where one has no part

 private:
  ScratchPool::Loan loan_;
};

template <class T>
class FusedRegression {
 public:
  explicit FusedRegression(const KernelRegression& problem) : problem_(problem), rows_(problem), meeting_(problem) {}

  [[nodiscard]] const RegressionRows<T>& rows() const noexcept { return rows_; }

  void compute(Executor& executor, const RegressionOperands<T>& regression) const {
    regress_in_rounds(executor, regression, meeting_.weight_of(), *this);
  }

  [[nodiscard]] static std::int64_t group() noexcept { return kRegressionGroup; }
  [[nodiscard]] static std::int64_t least_group() noexcept { return kRegressionGroup; }
  [[nodiscard]] Workspace<T> workspace(ScratchPool& pool) const { return {pool, rows_.steps().parts}; }

  /// Centred, as panels of the register tile read them.
  void pack_queries(const RegressionOperands<T>& regression, std::int64_t first, std::int64_t count,
                    const Workspace<T>& workspace) const noexcept {
    const T* const centre = rows_.centre(regression.training);
    for (std::int64_t query = 0; query < count; ++query) {
      const T* const numbers = regression.queries + (first + query) * problem_.columns;
      const bool counts = regression_row_counts(numbers, problem_.columns);
      T length = 0;
      for (std::int64_t step = 0; step < rows_.steps().parts; ++step) {
        T* const packed = workspace.queries + (step * kRegressionGroup + query) * kRegisterDepth<T>;
        for (std::int64_t p = 0; p < rows_.steps().size(step); ++p) {
          const std::int64_t j = rows_.steps().first(step) + p;
          packed[p] = counts ? numbers[j] - centre[j] : T(0);
          length += packed[p] * packed[p];
        }
      }
      workspace.lengths[query] = counts ? length : std::numeric_limits<T>::infinity();
    }
  }

  void begin_block(const Workspace<T>& /*workspace*/, std::int64_t /*queries*/) const noexcept {}
  template <class State>
  void end_block(const RegressionOperands<T>& /*regression*/, const Workspace<T>& /*workspace*/,
                 std::int64_t /*block_row*/, std::int64_t /*queries*/, const State& /*state*/) const noexcept {}

  template <class State>
  void meet_part(const RegressionOperands<T>& regression, const Workspace<T>& workspace, std::int64_t first_row,
                 std::int64_t /*rows*/, std::int64_t queries, const State& state) const {
    multiply(regression, workspace, first_row, queries);
    for (std::int64_t query = 0; query < queries; ++query) {
      // Rows that do not exist are infinitely far.
      meeting_.meet({.dots = workspace.dots + query * kRegressionPart,
                     .lengths = rows_.lengths(regression.training) + first_row,
                     .weights = workspace.weights,
                     .first = first_row,
                     .count = kRegressionPart,
                     .targets = regression.targets},
                    workspace.lengths[query], state(query));
    }
  }

 private:
  /// A group's dot products with kRegressionPart training rows.
  void multiply(const RegressionOperands<T>& regression, const Workspace<T>& workspace, std::int64_t first_row,
                std::int64_t queries) const {
    const auto panels = EqualParts::of_at_most(queries, register_tile<T>().rows);
    for (std::int64_t step = 0; step < rows_.steps().parts; ++step) {
      PanelProduct<T> product;
      product.b = rows_.sliver(regression.training, step, first_row);
      product.b_step = rows_.width();
      product.depth = rows_.steps().size(step);
      product.sliver_step = product.depth * rows_.width();
      product.ldc = product.columns = kRegressionPart;
      product.alpha = T(1);
      product.beta = step == 0 ? T(0) : T(1);
      for (std::int64_t panel = 0; panel < panels.parts; ++panel) {
        product.a = workspace.queries + (step * kRegressionGroup + panels.first(panel)) * kRegisterDepth<T>;
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
