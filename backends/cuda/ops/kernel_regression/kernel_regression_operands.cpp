// Rounds and grids of kernel_regression's kernels.
#include "ops/kernel_regression/kernel_regression_operands.h"

#include "mathematics/kernel_regression_slab.h"

namespace tessera::cuda {
namespace {

/// Of the workspace, unless a single query or row needs more.
constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{64} << 20;
/// A grid's y holds no more than 65,535.
constexpr std::int64_t kMostQueries = 32768;

constexpr std::size_t to_lines(std::size_t bytes) noexcept {
  return ceil_div<std::size_t>(bytes, 256) * 256;
}

}  // namespace

RegressionPlan::RegressionPlan(const KernelRegression& problem, std::size_t row_bytes)
    : rows_of_chunk_(problem.training_rows) {
  const auto rows = static_cast<std::size_t>(problem.training_rows);
  const std::size_t query_bytes = rows * (size_bytes(problem.squared_type()) + size_bytes(problem.result_type()));
  if (row_bytes == 0) {
    const std::int64_t fitting = kMostWorkspaceBytes / static_cast<std::int64_t>(query_bytes);
    queries_ = std::clamp<std::int64_t>(std::min(fitting, problem.queries), 1, kMostQueries);
  } else {
    const std::int64_t fitting = kMostWorkspaceBytes / static_cast<std::int64_t>(row_bytes);
    rows_of_chunk_ = std::clamp<std::int64_t>(std::min(fitting, problem.training_rows), 1, kMostQueries);
  }
  const auto numbers = static_cast<std::size_t>(queries_) * rows;
  weights_at_ = to_lines(numbers * size_bytes(problem.squared_type()));
  chunk_at_ = weights_at_ + to_lines(numbers * size_bytes(problem.result_type()));
  size_bytes_ = chunk_at_ + (row_bytes == 0 ? 0 : static_cast<std::size_t>(rows_of_chunk_) * row_bytes);
}

std::string regression_function(const char* kernel, DataType type) {
  return backend::sentence("tessera_kernel_regression_", kernel, "_", to_string(type));
}

LaunchGrid blocks_of_queries(unsigned queries, unsigned threads) noexcept {
  LaunchGrid grid;
  grid.groups[0] = queries;
  grid.group_size[0] = threads;
  return grid;
}

backend::Verdict check_regression(const KernelRegression& problem, const backend::Device& device) {
  if (backend::Verdict verdict = mathematics::check_regression_is_whole(problem); !verdict) return verdict;
  // A group of naive has 256 rows, and one of two_kernels 8 columns and more.
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  const auto rows = static_cast<std::uint64_t>(ceil_div<std::int64_t>(problem.training_rows, kRegressionThreads));
  if (rows <= limit && static_cast<std::uint64_t>(ceil_div<std::int64_t>(problem.columns, 8)) <= limit)
    return backend::Verdict::yes();
  return backend::Verdict::no(backend::sentence("the training set of kernel_regression, ", problem.training_rows, " x ",
                                                problem.columns, ", takes more groups than the ", limit,
                                                " of a launch"));
}

}  // namespace tessera::cuda
