// The variant "sequential": the plain loops of kernel_regression_plain.h (its picture is there) on the queue's own
// thread. It must stay so: it is the baseline of every speed-up that is reported.
#include "ops/kernel_regression/kernel_regression_plain.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<KernelRegression> kernel_regression_sequential() {
  return {
      .name = "sequential",
      .summary = "the study's loops on one thread, one query after another",
      .check = [](const KernelRegression& problem,
                  const backend::Device&) { return mathematics::check_regression_is_whole(problem); },
      .tunables = nullptr,
      .make =
          [](const KernelRegression& problem, backend::Device&, const Tuning&) {
            return make_regression_kernel(
                problem, []<class T>(Executor& executor, const RegressionOperands<T>& regression) {
                  using Squared = typename RegressionOperands<T>::Squared;
                  const KernelRegression& p = regression.problem;
                  const ScratchPool::Loan distances(executor.scratch(),
                                                    static_cast<std::size_t>(p.training_rows) * sizeof(Squared));
                  regress(regression, 0, p.queries, reinterpret_cast<Squared*>(distances.data()));
                });
          },
  };
}

}  // namespace tessera::cpu_tbb
