// The variant "naive": the plain loops of kernel_regression_plain.h (its picture is there), queries dealt to the
// threads. Nothing is reused on purpose; what it gains over "sequential" is threads alone.
#include "ops/kernel_regression/kernel_regression_plain.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<KernelRegression> kernel_regression_naive() {
  return {
      .name = "naive",
      .summary = "the study's loops, queries spread over the threads",
      .check = [](const KernelRegression& problem,
                  const backend::Device&) { return mathematics::check_regression_is_whole(problem); },
      .tunables = nullptr,
      .make =
          [](const KernelRegression& problem, backend::Device&, const Tuning&) {
            return make_regression_kernel(
                problem, []<class T>(Executor& executor, const RegressionOperands<T>& regression) {
                  using Squared = typename RegressionOperands<T>::Squared;
                  const KernelRegression& p = regression.problem;
                  executor.parallel_for(p.queries, [&](std::int64_t first, std::int64_t last) {
                    const ScratchPool::Loan distances(executor.scratch(),
                                                      static_cast<std::size_t>(p.training_rows) * sizeof(Squared));
                    regress(regression, first, last, reinterpret_cast<Squared*>(distances.data()));
                  });
                });
          },
  };
}

}  // namespace tessera::cpu_tbb
