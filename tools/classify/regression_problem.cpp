// Sizes from a training set, and the kernel that the command line asks for.
#include "tools/classify/regression_problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/process/add_time.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {

KernelRegression regression_of(KernelRegression problem, const Numbers& training,
                               const std::vector<std::int64_t>& labels, std::int64_t queries) {
  const auto [smallest, largest] = std::minmax_element(labels.begin(), labels.end());
  if (*largest - *smallest >= kMostClasses) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the training labels reach from {} to {}, but may be at most {} apart", *smallest, *largest,
                            kMostClasses - 1));
  }
  problem.training_rows = static_cast<std::int64_t>(labels.size());
  problem.columns = static_cast<std::int64_t>(size_of(training) / labels.size());
  problem.queries = queries;
  problem.outputs = 1;
  problem.classes = *largest - *smallest + 1;
  problem.nearest = true;
  problem.neighbours = true;
  problem.type = std::visit([](const auto& rows) { return data_type_of<std::decay_t<decltype(rows[0])>>; }, training);
  return problem;
}

OperatorKernel<KernelRegression> regression_kernel(const Device& device, const KernelRegression& problem,
                                                   const KernelOptions& options, double& seconds) {
  const AddTime timer(seconds);
  try {
    return device.kernel(problem, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw UsageError(error.sentence());
    throw;
  }
}

}  // namespace tessera::tool
