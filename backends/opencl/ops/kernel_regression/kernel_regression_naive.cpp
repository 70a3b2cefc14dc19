// kernel_regression, naive: one work-item a training row. See kernel_regression_naive.cl.
#include "opencl_embedded.h"
#include "ops/kernel_regression/kernel_regression_launch.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  return check_whole_regression(problem, native(device).facts());
}

std::unique_ptr<backend::Kernel> make(const KernelRegression& problem, backend::Device& device,
                                      const Tuning& /*tuning*/) {
  const RegressionPlan plan(problem, native(device));
  OperatorLaunch distances;
  distances.kernel = plan.compile("kernel_regression_naive", embedded::kernel_regression_naive);
  distances.range = line_of(*distances.kernel, static_cast<std::uint64_t>(problem.training_rows));
  distances.range.dimensions = 2;
  distances.range.global[1] = static_cast<std::size_t>(plan.shape().queries_of_round);
  distances.memory = plan.memory_of_distances();
  distances.set_structs(plan.shape());
  OperatorRun run{.launches = {}, .rounds = plan.rounds()};
  run.launches.push_back(std::move(distances));
  run.launches.push_back(plan.launch_of_sums());
  return std::make_unique<OpenclKernel>(std::move(run), plan.workspace_bytes());
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_naive() {
  return {.name = "naive",
          .summary = "one work-item a training row, then sums in a fixed order: the study's first version",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
