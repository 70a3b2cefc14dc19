// What the host code of every kernel_regression kernel shares: the regression as kernels take it, the program's source
// and options, operands and workspace, and the launch that adds up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/kernel_regression.h>

#include "backend/variant.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// Regression of kernel_regression_rows.cl.
struct RegressionShape {
  cl_long training_rows, columns, queries;
  cl_long outputs, classes;
  cl_long queries_of_round;
  cl_long chunks, rows_of_chunk;
  cl_double factor;
  cl_int is_euclidean;
  cl_int has_nearest;
  cl_int has_neighbours;
  cl_int is_slab;
};
static_assert(sizeof(RegressionShape) == 88, "kernel_regression_rows.cl says so too");

/// Of a run in one round.
[[nodiscard]] RegressionShape regression_shape(const KernelRegression& problem) noexcept;

/// A function of a program that computes in the problem's types.
[[nodiscard]] std::unique_ptr<CompiledKernel> compile_regression(const KernelRegression& problem,
                                                                 const OpenclDevice& device, const char* function,
                                                                 std::string_view text, const std::string& more_options,
                                                                 bool is_for_sm_90a = false);

/// A run in rounds: of so many queries each, whose distances and weights fit into the workspace.
class RegressionPlan {
 public:
  /// With `row_bytes`, rounds of one query and a chunk of training rows, for each of which the workspace has so much.
  RegressionPlan(const KernelRegression& problem, const OpenclDevice& device, std::size_t row_bytes = 0);

  [[nodiscard]] const RegressionShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t rounds() const noexcept;
  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return chunk_bytes_ + first_of_chunk(); }
  /// Operands, distances and weights: what the memory of launches that write results begins with.
  [[nodiscard]] std::vector<MemoryArgument> memory() const;
  /// Queries, training rows and distances: what a launch works on that compares them.
  [[nodiscard]] std::vector<MemoryArgument> memory_of_distances() const;
  /// Behind them in the workspace, elements of this type.
  [[nodiscard]] MemoryArgument chunk(DataType type) const;
  [[nodiscard]] std::unique_ptr<CompiledKernel> compile(const char* function, std::string_view text,
                                                        const std::string& more_options = {}) const;
  /// One group of so many work-items a query of the round, by a program with the option GROUP.
  [[nodiscard]] OperatorLaunch launch_of_groups(const char* function, std::string_view text, std::int64_t group) const;
  /// The launch that makes results of the distances.
  [[nodiscard]] OperatorLaunch launch_of_sums() const;

 private:
  [[nodiscard]] std::size_t first_of_chunk() const noexcept;

  const KernelRegression& problem_;
  const OpenclDevice& device_;
  RegressionShape shape_{};
  std::size_t chunk_bytes_ = 0;
};

/// Yes unless the device lacks double, in which exponents and sums are computed whatever the type.
[[nodiscard]] backend::Verdict check_regression(const KernelRegression& problem, const DeviceFacts& facts);
/// The same for variants that keep all distances: not of a slab.
[[nodiscard]] backend::Verdict check_whole_regression(const KernelRegression& problem, const DeviceFacts& facts);

/// Work-items of a group that adds up, a power of two.
[[nodiscard]] std::int64_t regression_group(const DeviceFacts& facts) noexcept;

}  // namespace tessera::opencl
