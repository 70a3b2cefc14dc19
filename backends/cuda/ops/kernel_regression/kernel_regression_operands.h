// What the host code of every kernel_regression kernel shares: the problem as kernels take it, rounds and workspace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tessera/ops/kernel_regression.h>

#include "backend/backend.h"
#include "backend/sentence.h"
#include "backend/variant.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_kernel.h"
#include "mathematics/division.h"
#include "mathematics/kernel_regression_weight.h"
#include "ops/kernel_regression/kernel_regression_arguments.h"

namespace tessera::cuda {

using mathematics::ceil_div;

/// Queries whose distances and weights are in the workspace at a time; with `row_bytes`, one query, and for each
/// training row of a chunk so much more.
class RegressionPlan {
 public:
  explicit RegressionPlan(const KernelRegression& problem, std::size_t row_bytes = 0);

  [[nodiscard]] std::int64_t queries() const noexcept { return queries_; }
  [[nodiscard]] std::int64_t rows_of_chunk() const noexcept { return rows_of_chunk_; }
  [[nodiscard]] std::size_t weights_at() const noexcept { return weights_at_; }
  [[nodiscard]] std::size_t chunk_at() const noexcept { return chunk_at_; }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return size_bytes_; }

 private:
  std::int64_t queries_ = 1;
  std::int64_t rows_of_chunk_ = 0;
  std::size_t weights_at_ = 0;
  std::size_t chunk_at_ = 0;
  std::size_t size_bytes_ = 0;
};

/// The problem without operands and without a part of it.
template <class T>
[[nodiscard]] RegressionArguments<T> regression_arguments(const KernelRegression& problem) noexcept {
  RegressionArguments<T> arguments{};
  arguments.training_rows = problem.training_rows;
  arguments.columns = problem.columns;
  arguments.outputs = problem.outputs;
  arguments.classes = problem.classes;
  arguments.last_row = problem.training_rows;
  arguments.factor = mathematics::regression_factor(problem);
  arguments.is_euclidean = problem.distance == Distance::euclidean;
  return arguments;
}

/// A kernel that takes queries in rounds. A derived class launches what computes a round's distances and results.
template <class T>
class RegressionInRounds : public backend::Kernel {
 public:
  RegressionInRounds(const KernelRegression& problem, const RegressionPlan& plan)
      : queries_(problem.queries), plan_(plan), arguments_(regression_arguments<T>(problem)) {}

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes(); }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    using Arguments = RegressionArguments<T>;
    Arguments arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.queries = pointer_to<const T>(operands[0]);
    arguments.training = pointer_to<const T>(operands[1]);
    arguments.targets = pointer_to<const typename Arguments::Result>(operands[2]);
    arguments.values = pointer_to<typename Arguments::Result>(operands[3]);
    arguments.votes = pointer_to<typename Arguments::Result>(operands[4]);
    arguments.nearest_row = pointer_to<std::int64_t>(operands[5]);
    arguments.nearest_squared = pointer_to<typename Arguments::Squared>(operands[6]);
    arguments.neighbours = pointer_to<typename Arguments::Result>(operands[7]);
    arguments.distances = pointer_to<typename Arguments::Squared>(workspace);
    arguments.weights = pointer_at<typename Arguments::Result>(workspace, plan_.weights_at());
    arguments.differences = pointer_at<typename Arguments::Difference>(workspace, plan_.chunk_at());
    for (std::int64_t first = 0; first < queries_; first += plan_.queries()) {
      arguments.first_query = first;
      launch_round(queue, arguments, static_cast<unsigned>(std::min(plan_.queries(), queries_ - first)));
    }
  }

 protected:
  [[nodiscard]] const RegressionPlan& plan() const noexcept { return plan_; }
  virtual void launch_round(backend::Queue& queue, RegressionArguments<T>& arguments, unsigned queries) = 0;

 private:
  std::int64_t queries_;
  RegressionPlan plan_;
  RegressionArguments<T> arguments_;
};

/// "tessera_kernel_regression_sums_uint8".
[[nodiscard]] std::string regression_function(const char* kernel, DataType type);

/// One block a query of the round.
[[nodiscard]] LaunchGrid blocks_of_queries(unsigned queries, unsigned threads) noexcept;

/// Calls `make(T())` with the type of the problem's rows.
template <class Make>
[[nodiscard]] std::unique_ptr<backend::Kernel> for_rows(DataType type, const Make& make) {
  if (type == DataType::uint8) return make(std::uint8_t());
  if (type == DataType::float32) return make(float());
  return make(double());
}

/// Yes unless the training set is a slab, or has more rows than a launch has threads.
[[nodiscard]] backend::Verdict check_regression(const KernelRegression& problem, const backend::Device& device);

}  // namespace tessera::cuda
