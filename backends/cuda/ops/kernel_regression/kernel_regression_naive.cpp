// The variant "naive" of kernel_regression.
#include "cuda_embedded.h"
#include "ops/kernel_regression/kernel_regression_operands.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

template <class T>
class NaiveRegression final : public RegressionInRounds<T> {
 public:
  NaiveRegression(const std::shared_ptr<Context>& context, const KernelRegression& problem)
      : RegressionInRounds<T>(problem, RegressionPlan(problem)),
        distances_(context, embedded::kernel_regression_naive, regression_function("naive", problem.type), {}),
        sums_(context, embedded::kernel_regression_sums, regression_function("sums", problem.type), {}) {}

 protected:
  void launch_round(backend::Queue& queue, RegressionArguments<T>& arguments, unsigned queries) override {
    LaunchGrid grid;
    grid.groups = {static_cast<unsigned>(ceil_div<std::int64_t>(arguments.training_rows, kRegressionThreads)), queries,
                   1};
    grid.group_size[0] = kRegressionThreads;
    distances_.enqueue(queue, arguments, grid);
    sums_.enqueue(queue, arguments, blocks_of_queries(queries, kRegressionThreads));
  }

 private:
  CudaFunction distances_;
  CudaFunction sums_;
};

}  // namespace

backend::Variant<KernelRegression> kernel_regression_naive() {
  return {
      .name = "naive",
      .summary = "one thread a training row, then sums in a fixed order: the study's first version",
      .check = check_regression,
      .tunables = nullptr,
      .make =
          [](const KernelRegression& problem, backend::Device& device, const Tuning&) {
            const std::shared_ptr<Context>& context = native(device).context();
            return for_rows(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
              return std::make_unique<NaiveRegression<decltype(element)>>(context, problem);
            });
          },
  };
}

}  // namespace tessera::cuda
