// kernel_regression, one_kernel: one group a query, its work-items a tunable. See kernel_regression_one_kernel.cl.
#include <algorithm>

#include "opencl_embedded.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_launch.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  return check_whole_regression(problem, native(device).facts());
}

std::vector<Tunable> tunables(const KernelRegression& /*problem*/, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  Tunable threads{.name = "threads", .meaning = "work-items of a query's group", .values = {}};
  for (const std::int64_t value : {1, 4, 16, 64, 256}) {
    if (static_cast<std::uint64_t>(value) <= facts.info.max_group_size) threads.values.push_back(value);
  }
  threads.preferred =
      facts.info.kind == DeviceKind::cpu ? std::min<std::int64_t>(16, threads.values.back()) : threads.values.back();
  return {threads};
}

std::unique_ptr<backend::Kernel> make(const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
  const RegressionPlan plan(problem, native(device));
  OperatorRun run{.launches = {}, .rounds = plan.rounds()};
  run.launches.push_back(plan.launch_of_groups("kernel_regression_one_kernel", embedded::kernel_regression_one_kernel,
                                               tuning.at("threads")));
  return std::make_unique<OpenclKernel>(std::move(run), plan.workspace_bytes());
}

backend::Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  return regression_is_fastest("one_kernel", problem, device);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_one_kernel() {
  return {.name = "one_kernel",
          .summary = "one group a query, distances and sums in one launch: the study's second version",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
