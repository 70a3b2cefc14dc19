// How "fused" and "exact_bytes" pass over the training set: rounds of queries, groups of a round, blocks of training
// rows, parts of a block; and how the blocks' states become results. What a part's products are and how a query meets
// them is the method's business.
//
//     round:  group 0 | block 0   block 1 ...    A chunk is a group and a block. Chunks of one group follow each other,
//             group 1 | block 0   block 1 ...    so that its queries, packed before, stay in a thread's cache.
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

static_assert(kRegressionPart % kFoldStep == 0);

/// Rows that a group meets at a time: kRegressionPart, or a block's last.
struct RegressionPart {
  std::int64_t block = 0;  ///< its first row
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Where a method has packed queries, `count` of a group: numbers as it reads them, and a length for each.
template <class Word>
struct PackedQueries {
  Word* numbers = nullptr;
  Word* lengths = nullptr;
  std::int64_t count = 0;
};

/// The states of a group's queries after one block.
template <class T, class Method, class Workspace, class Queries, class State>
void meet_regression_block(const RegressionOperands<T>& regression, const Method& method, const Workspace& workspace,
                           std::int64_t block, const Queries& queries, const State& state) {
  for (std::int64_t query = 0; query < queries.count; ++query) state(query).clear();
  method.begin_block(workspace, queries.count);
  const std::int64_t rows = method.block_rows();
  const std::int64_t first = block * rows;
  const std::int64_t end = std::min(regression.problem.training_rows, first + rows);
  for (std::int64_t row = first; row < end; row += kRegressionPart) {
    method.meet_part(regression, workspace,
                     {.block = first, .first = row, .count = std::min(kRegressionPart, end - row)}, queries, state);
  }
  method.end_block(regression, workspace, first, queries.count, state);
}

/// Computes all results. A method offers
///   block_rows()                                             training rows of a block, by the whole set's size alone
///   group(), least_group()                                   queries of a group, at most; where chunks are few
///   kChunks                                                  that a thread shall have, if groups can be made smaller
///   Word, query_words()                                      what a packed query takes, without its length
///   pack_query(regression, query, packed, i)                 as number i of its group
///   workspace(pool)                                          the memory of one thread
///   begin_block(workspace, queries)                          a group has met no row of a block
///   meet_part(regression, workspace, rows, queries, state)   it meets these rows
///   end_block(regression, workspace, first_row, queries, state)   it has met all: states must say so now
template <class T, class Method>
void regress_in_rounds(Executor& executor, const RegressionOperands<T>& regression,
                       const mathematics::RegressionWeight<double>& weight_of, const Method& method) {
  using Word = typename Method::Word;
  // Queries whose states are in memory at a time, and what they are packed into.
  constexpr std::int64_t kRound = 8192, kRoundWords = std::int64_t{1} << 23;
  constexpr std::int64_t kPackedAtOnce = 1 << 14;  // words: with fewer another thread is not worth its while
  const KernelRegression& problem = regression.problem;
  const std::int64_t blocks = mathematics::ceil_div(problem.training_rows, method.block_rows());
  const std::int64_t size = RegressionState::size(problem);
  const std::int64_t words = method.query_words() + 1;
  const std::int64_t round = std::clamp(kRoundWords / words, method.group(), kRound);
  const std::int64_t most = std::min(round, problem.queries);
  const ScratchPool::Loan loan(executor.scratch(), static_cast<std::size_t>(blocks * most * size) * sizeof(double));
  double* const states = reinterpret_cast<double*>(loan.data());
  for (std::int64_t first = 0; first < problem.queries; first += round) {
    const std::int64_t count = std::min(round, problem.queries - first);
    // Fewer queries than a group may have, where threads would find too few chunks.
    const auto whole_groups = mathematics::ceil_div(count, method.group());
    const auto wanted = mathematics::ceil_div<std::int64_t>(Method::kChunks * executor.threads(), blocks);
    const EqualParts groups{
        .whole = count,
        .parts = std::max(whole_groups, std::min(wanted, mathematics::ceil_div(count, method.least_group())))};
    const auto state = [&](std::int64_t block, std::int64_t query) {
      return RegressionState(problem, states + (block * most + query) * size);
    };
    const std::int64_t of_group = groups.size(0);
    const ScratchPool::Loan packed(executor.scratch(),
                                   static_cast<std::size_t>(groups.parts * of_group * words) * sizeof(Word));
    const auto queries_of = [&](std::int64_t group) {
      auto* const numbers = reinterpret_cast<Word*>(packed.data()) + group * of_group * words;
      return PackedQueries<Word>{numbers, numbers + of_group * (words - 1), groups.size(group)};
    };
    const auto shares = EqualParts::of_at_most(count, std::max<std::int64_t>(kPackedAtOnce / words, 1));
    executor.parallel_for(shares.parts, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t query = shares.first(begin); query < shares.first(end); ++query) {
        const std::int64_t group = groups.part_of(query);
        method.pack_query(regression, first + query, queries_of(group), query - groups.first(group));
      }
    });
    executor.parallel_for(groups.parts * blocks, [&](std::int64_t begin, std::int64_t end) {
      const auto workspace = method.workspace(executor.scratch());
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        const std::int64_t group = chunk / blocks;
        const std::int64_t block = chunk % blocks;
        meet_regression_block(regression, method, workspace, block, queries_of(group),
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
