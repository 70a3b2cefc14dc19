// Rounds, operands and options of kernel_regression's launches.
#include "ops/kernel_regression/kernel_regression_launch.h"

#include <algorithm>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_slab.h"
#include "mathematics/kernel_regression_weight.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// The second extent of a grid holds no more on NVIDIA.
constexpr std::int64_t kMostQueriesOfRound = 32768;

std::int64_t bytes_of(DataType type) noexcept {
  return static_cast<std::int64_t>(size_bytes(type));
}

}  // namespace

RegressionShape regression_shape(const KernelRegression& problem) noexcept {
  return {.training_rows = problem.training_rows,
          .columns = problem.columns,
          .queries = problem.queries,
          .outputs = problem.outputs,
          .classes = problem.classes,
          .queries_of_round = problem.queries,
          .chunks = 1,
          .rows_of_chunk = problem.training_rows,
          .factor = mathematics::regression_factor(problem),
          .is_euclidean = problem.distance == Distance::euclidean ? 1 : 0,
          .has_nearest = problem.nearest ? 1 : 0,
          .has_neighbours = problem.neighbours ? 1 : 0,
          .is_slab = problem.is_slab ? 1 : 0};
}

std::unique_ptr<CompiledKernel> compile_regression(const KernelRegression& problem, const OpenclDevice& device,
                                                   const char* function, std::string_view text,
                                                   const std::string& more_options, bool is_for_sm_90a) {
  return device.kernel(
      {.name = function,
       .text = std::string(text),
       .options = backend::sentence("-cl-std=CL1.2 -DBYTES=", problem.type == DataType::uint8 ? 1 : 0,
                                    " -DFLOAT64=", problem.type == DataType::float64 ? 1 : 0, more_options),
       .is_for_sm_90a = is_for_sm_90a});
}

RegressionPlan::RegressionPlan(const KernelRegression& problem, const OpenclDevice& device, std::size_t row_bytes)
    : problem_(problem), device_(device) {
  const std::int64_t query_bytes =
      problem.training_rows * (bytes_of(problem.squared_type()) + bytes_of(problem.result_type()));
  const std::int64_t fitting = std::min(kMostWorkspaceBytes / query_bytes, kMostQueriesOfRound);
  shape_ = regression_shape(problem);
  shape_.queries_of_round = std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(problem.queries, 1));
  if (row_bytes == 0) return;
  const std::int64_t rows = kMostWorkspaceBytes / static_cast<std::int64_t>(row_bytes);
  shape_.queries_of_round = 1;
  shape_.rows_of_chunk = std::clamp<std::int64_t>(std::min(rows, kMostQueriesOfRound), 1, problem.training_rows);
  shape_.chunks = ceil_div(problem.training_rows, shape_.rows_of_chunk);
  chunk_bytes_ = static_cast<std::size_t>(shape_.rows_of_chunk) * row_bytes;
}

std::int64_t RegressionPlan::rounds() const noexcept {
  return ceil_div(problem_.queries, shape_.queries_of_round) * shape_.chunks;
}

std::size_t RegressionPlan::first_of_chunk() const noexcept {
  constexpr std::size_t kAligned = 8;
  const auto numbers = static_cast<std::size_t>(shape_.queries_of_round * shape_.training_rows);
  const std::size_t bytes = numbers * (size_bytes(problem_.squared_type()) + size_bytes(problem_.result_type()));
  return ceil_div(bytes, kAligned) * kAligned;
}

std::vector<MemoryArgument> RegressionPlan::memory() const {
  const DataType result = problem_.result_type();
  const DataType squared = problem_.squared_type();
  const auto numbers = static_cast<std::uint64_t>(shape_.queries_of_round * shape_.training_rows);
  return {{.place = 0, .type = problem_.type},
          {.place = 1, .type = problem_.type},
          {.place = 2, .type = result},
          {.place = 3, .type = result},
          {.place = 4, .type = result},
          {.place = 5, .type = DataType::int64},
          {.place = 6, .type = squared},
          {.place = 7, .type = result},
          {.place = MemoryArgument::kWorkspace, .type = squared},
          {.place = MemoryArgument::kWorkspace,
           .type = result,
           .first_element = numbers * (size_bytes(squared) / size_bytes(result))}};
}

std::vector<MemoryArgument> RegressionPlan::memory_of_distances() const {
  return {{.place = 0, .type = problem_.type},
          {.place = 1, .type = problem_.type},
          {.place = MemoryArgument::kWorkspace, .type = problem_.squared_type()}};
}

MemoryArgument RegressionPlan::chunk(DataType type) const {
  return {.place = MemoryArgument::kWorkspace, .type = type, .first_element = first_of_chunk() / size_bytes(type)};
}

std::unique_ptr<CompiledKernel> RegressionPlan::compile(const char* function, std::string_view text,
                                                        const std::string& more_options) const {
  return compile_regression(problem_, device_, function, text, more_options);
}

OperatorLaunch RegressionPlan::launch_of_groups(const char* function, std::string_view text, std::int64_t group) const {
  const auto items = static_cast<std::size_t>(group);
  OperatorLaunch launch;
  launch.kernel = compile(function, text, backend::sentence(" -DGROUP=", group));
  launch.range = {1, {static_cast<std::size_t>(shape_.queries_of_round) * items, 1, 1}, {items, 1, 1}};
  launch.memory = memory();
  launch.set_structs(shape_);
  return launch;
}

OperatorLaunch RegressionPlan::launch_of_sums() const {
  return launch_of_groups("kernel_regression_sums", embedded::kernel_regression_sums,
                          regression_group(device_.facts()));
}

backend::Verdict check_regression(const KernelRegression& problem, const DeviceFacts& facts) {
  if (!facts.info.has_float64) {
    return backend::Verdict::no(backend::sentence("kernel_regression computes exponents and sums in float64, but '",
                                                  facts.info.name, "' computes in float32 at most"));
  }
  return check_groups("kernel_regression", static_cast<std::uint64_t>(ceil_div(problem.training_rows, 64)) + 1);
}

backend::Verdict check_whole_regression(const KernelRegression& problem, const DeviceFacts& facts) {
  if (backend::Verdict verdict = mathematics::check_regression_is_whole(problem); !verdict) return verdict;
  return check_regression(problem, facts);
}

std::int64_t regression_group(const DeviceFacts& facts) noexcept {
  const std::int64_t wanted = facts.info.kind == DeviceKind::cpu ? 16 : 256;
  std::int64_t group = 1;
  while (group < wanted && static_cast<std::uint64_t>(2 * group) <= facts.info.max_group_size) group *= 2;
  return group;
}

}  // namespace tessera::opencl
