// How the variant "split_k" cuts k, and where that pays.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tessera/ops/gemm.h>

#include "backend/backend.h"
#include "backend/operator_table.h"
#include "cpu_tbb_executor.h"

namespace tessera::cpu_tbb {

/// `count` parts of `length`, the last of them shorter, each with a block of sums in the workspace: m rows of
/// `row_elements`.
struct KParts {
  std::int64_t count = 0;  ///< 0: there is nothing to add up
  std::int64_t length = 0;
  std::int64_t row_elements = 0;      ///< n, filled up to whole vectors
  std::int64_t part_elements = 0;     ///< of a block
  std::int64_t products_at_once = 0;  ///< of a batch: as many as the workspace has room for
  std::size_t workspace_bytes = 0;
};

/// Depends on the problem alone (and row_elements on the processor), never on the threads.
[[nodiscard]] KParts parts_of_k(const Gemm& problem);

[[nodiscard]] backend::Verdict split_k_check(const Gemm& problem, const backend::Device& device);
[[nodiscard]] backend::Verdict split_k_pays(const Gemm& problem, const Team& team);
[[nodiscard]] backend::Verdict split_k_pays(const Gemm& problem, const backend::Device& device);

}  // namespace tessera::cpu_tbb
