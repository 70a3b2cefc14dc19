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

/// Training rows that a group meets at a time.
inline constexpr std::int64_t kRegressionPart = 256;
static_assert(kRegressionBlock % kRegressionPart == 0 && kRegressionPart % kFoldStep == 0);

/// The states of so many of a group's queries after one block.
template <class T, class Method, class Workspace, class State>
void meet_regression_block(const RegressionOperands<T>& regression, const Method& method, const Workspace& workspace,
                           std::int64_t block, std::int64_t queries, const State& state) {
  for (std::int64_t query = 0; query < queries; ++query) state(query).clear();
  method.begin_block(workspace, queries);
  const std::int64_t end = std::min(regression.problem.training_rows, (block + 1) * kRegressionBlock);
  for (std::int64_t row = block * kRegressionBlock; row < end; row += kRegressionPart) {
    method.meet_part(regression, workspace, row, std::min(kRegressionPart, end - row), queries, state);
  }
  method.end_block(regression, workspace, block * kRegressionBlock, queries, state);
}

/// Computes all results. A method offers
///   group(), least_group()                                   queries of a group, at most; where chunks are few
///   workspace(pool)                                          the memory of one thread
///   pack_queries(regression, first, count, workspace)        a group's
///   begin_block(workspace, queries)                          a group has met no row of a block
///   meet_part(regression, workspace, first_row, rows, queries, state)   it meets so many rows, kRegressionPart or the
///                                                            set's last
///   end_block(regression, workspace, first_row, queries, state)   it has met all: states must say so now
template <class T, class Method>
void regress_in_rounds(Executor& executor, const RegressionOperands<T>& regression,
                       const mathematics::RegressionWeight<double>& weight_of, const Method& method) {
  constexpr std::int64_t kRound = 8192;  // queries whose states are in memory at a time
  constexpr std::int64_t kChunksOfThread = 16;
  const KernelRegression& problem = regression.problem;
  const std::int64_t blocks = mathematics::ceil_div(problem.training_rows, kRegressionBlock);
  const std::int64_t size = RegressionState::size(problem);
  const std::int64_t most = std::min(kRound, problem.queries);
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(blocks * most * size) * sizeof(double));
  double* const states = reinterpret_cast<double*>(loan.data());
  for (std::int64_t first = 0; first < problem.queries; first += kRound) {
    const std::int64_t count = std::min(kRound, problem.queries - first);
    // Fewer queries than a group may have, where threads would find too few chunks.
    const auto whole_groups = mathematics::ceil_div(count, method.group());
    const auto wanted = mathematics::ceil_div<std::int64_t>(kChunksOfThread * executor.threads(), blocks);
    const EqualParts groups{
        .whole = count,
        .parts = std::max(whole_groups, std::min(wanted, mathematics::ceil_div(count, method.least_group())))};
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
