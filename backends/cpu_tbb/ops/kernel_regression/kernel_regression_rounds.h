// How "fused" and "exact_bytes" pass over the training set: rounds of queries, groups of a round, blocks of training
// rows, parts of a block; and how the blocks' states become results. What a part's products are and how a query meets
// them is the method's business.
//
//     round:  group 0 | block 0   block 1 ...    A chunk is a group and a block. Chunks of one group follow each other,
//             group 1 | block 0   block 1 ...    so that a thread packs its queries once.
//               ...
//             then, query by query: states joined from the first block to the last, a slab's to those before it
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu_tbb_executor.h"
#include "mathematics/division.h"
#include "mathematics/kernel_regression_weight.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/kernel_regression/kernel_regression_fold.h"
#include "ops/kernel_regression/kernel_regression_state.h"

namespace tessera::cpu_tbb {

/// Queries of a group: their numbers stay in the second-level cache, 440 KB in float for 784 columns.
inline constexpr std::int64_t kRegressionGroup = 140;
/// Training rows whose products with a group are kept at a time: 143 KB in float.
inline constexpr std::int64_t kRegressionPart = 256;
static_assert(kRegressionBlock % kRegressionPart == 0 && kRegressionPart % kFoldStep == 0);

/// The states of so many of a group's queries after one block.
template <class T, class Method, class Workspace, class State>
void meet_regression_block(const RegressionOperands<T>& regression, const Method& method, const Workspace& workspace,
                           std::int64_t block, std::int64_t queries, const State& state) {
  for (std::int64_t query = 0; query < queries; ++query) state(query).clear();
  const std::int64_t end = std::min(regression.problem.training_rows, (block + 1) * kRegressionBlock);
  for (std::int64_t row = block * kRegressionBlock; row < end; row += kRegressionPart) {
    method.multiply(regression, workspace, row, queries);
    for (std::int64_t query = 0; query < queries; ++query) {
      method.meet_part(regression, workspace, query, row, std::min(kRegressionPart, end - row), state(query));
    }
  }
}

/// Computes all results. A method offers
///   workspace(pool)                                          the memory of one thread
///   pack_queries(regression, first, count, workspace)        a group's
///   multiply(regression, workspace, first_row, queries)      the group's products with kRegressionPart rows
///   meet_part(regression, workspace, query, first_row, rows, state)   a query meets those of them that exist
template <class T, class Method>
void regress_in_rounds(Executor& executor, const RegressionOperands<T>& regression,
                       const mathematics::RegressionWeight<double>& weight_of, const Method& method) {
  constexpr std::int64_t kRound = 8192;  // queries whose states are in memory at a time
  const KernelRegression& problem = regression.problem;
  const std::int64_t blocks = mathematics::ceil_div(problem.training_rows, kRegressionBlock);
  const std::int64_t size = RegressionState::size(problem);
  const std::int64_t most = std::min(kRound, problem.queries);
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(blocks * most * size) * sizeof(double));
  double* const states = reinterpret_cast<double*>(loan.data());
  for (std::int64_t first = 0; first < problem.queries; first += kRound) {
    const std::int64_t count = std::min(kRound, problem.queries - first);
    const auto groups = EqualParts::of_at_most(count, kRegressionGroup);
    const auto state = [&](std::int64_t block, std::int64_t query) {
      return RegressionState(problem, states + (block * most + query) * size);
    };
    executor.parallel_for(groups.parts * blocks, [&](std::int64_t begin, std::int64_t end) {
      const auto workspace = method.workspace(executor.scratch());
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t group = chunk / blocks;
        const std::int64_t block = chunk % blocks;
        if (chunk == begin || block == 0)
          method.pack_queries(regression, first + groups.first(group), groups.size(group), workspace);
        meet_regression_block(regression, method, workspace, block, groups.size(group),
                              [&](std::int64_t query) { return state(block, groups.first(group) + query); });
      }
    });
    executor.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
      const ScratchPool::Loan memory(executor.scratch(), static_cast<std::size_t>(size) * sizeof(double));
      const RegressionState all(problem, reinterpret_cast<double*>(memory.data()));
      for (std::int64_t query = begin; query < end; ++query) {
        all.begin(regression, first + query);
        for (std::int64_t block = 0; block < blocks; ++block) all.join(state(block, query), weight_of);
        all.write(regression, first + query);
      }
    });
  }
}

}  // namespace tessera::cpu_tbb
