// The variant "one_kernel" of kernel_regression.
#include "cuda_embedded.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_operands.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

template <class T>
class RegressionInOneKernel final : public RegressionInRounds<T> {
 public:
  RegressionInOneKernel(const std::shared_ptr<Context>& context, const KernelRegression& problem, unsigned threads)
      : RegressionInRounds<T>(problem, RegressionPlan(problem)),
        threads_(threads),
        function_(context, embedded::kernel_regression_one_kernel, regression_function("one_kernel", problem.type),
                  {}) {}

 protected:
  void launch_round(backend::Queue& queue, RegressionArguments<T>& arguments, unsigned queries) override {
    function_.enqueue(queue, arguments, blocks_of_queries(queries, threads_));
  }

 private:
  unsigned threads_;
  CudaFunction function_;
};

backend::Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  return regression_is_fastest("one_kernel", problem, device);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_one_kernel() {
  return {
      .name = "one_kernel",
      .summary = "one block a query, distances and sums in one launch: the study's second version",
      .check = check_regression,
      .tunables =
          [](const KernelRegression&, const backend::Device&) {
            return std::vector<Tunable>{
                {"threads", "threads of a query's block", {1, 4, 16, 64, 256}, kRegressionThreads}};
          },
      .make =
          [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
            const std::shared_ptr<Context>& context = native(device).context();
            return for_rows(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
              return std::make_unique<RegressionInOneKernel<decltype(element)>>(
                  context, problem, static_cast<unsigned>(tuning.at("threads")));
            });
          },
      .pays = pays,
  };
}

}  // namespace tessera::cuda
