// The variant "two_kernels" of kernel_regression.
#include <algorithm>
#include <array>
#include <vector>

#include "cuda_embedded.h"
#include "mathematics/kernel_regression_blocks.h"
#include "ops/kernel_regression/kernel_regression_operands.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cuda {
namespace {

/// The first is preferred.
using Block = mathematics::RegressionBlock;
constexpr std::array<Block, 5> kDifferenceBlocks{{{16, 16}, {8, 32}, {8, 8}, {1, 256}, {1, 64}}};
constexpr std::array<Block, 5> kNormBlocks{{{8, 32}, {16, 16}, {8, 8}, {256, 1}, {64, 1}}};

/// Over so many columns and rows.
LaunchGrid grid_over(std::int64_t columns, std::int64_t rows, const Block& block) {
  LaunchGrid grid;
  grid.groups = {static_cast<unsigned>(ceil_div(columns, block.second)),
                 static_cast<unsigned>(ceil_div(rows, block.first)), 1};
  grid.group_size = {static_cast<unsigned>(block.second), static_cast<unsigned>(block.first), 1};
  return grid;
}

template <class T>
class RegressionInTwoKernels final : public RegressionInRounds<T> {
 public:
  RegressionInTwoKernels(const std::shared_ptr<Context>& context, const KernelRegression& problem,
                         const Block& difference_block, const Block& norm_block)
      : RegressionInRounds<T>(problem,
                              RegressionPlan(problem, static_cast<std::size_t>(problem.columns) *
                                                          sizeof(typename RegressionArguments<T>::Difference))),
        difference_block_(difference_block),
        norm_block_(norm_block),
        differences_(context, embedded::kernel_regression_two_kernels, regression_function("differences", problem.type),
                     {}),
        norms_(context, embedded::kernel_regression_two_kernels, regression_function("norms", problem.type), {}),
        sums_(context, embedded::kernel_regression_sums, regression_function("sums", problem.type), {}) {}

 protected:
  void launch_round(backend::Queue& queue, RegressionArguments<T>& arguments, unsigned queries) override {
    const std::int64_t rows = arguments.training_rows;
    const std::int64_t step = this->plan().rows_of_chunk();
    for (std::int64_t first = 0; first < rows; first += step) {
      arguments.first_row = first;
      arguments.last_row = std::min(rows, first + step);
      const std::int64_t count = arguments.last_row - first;
      differences_.enqueue(queue, arguments, grid_over(arguments.columns, count, difference_block_));
      norms_.enqueue(queue, arguments, grid_over(1, count, norm_block_));
    }
    sums_.enqueue(queue, arguments, blocks_of_queries(queries, kRegressionThreads));
  }

 private:
  Block difference_block_;
  Block norm_block_;
  CudaFunction differences_;
  CudaFunction norms_;
  CudaFunction sums_;
};

}  // namespace

backend::Variant<KernelRegression> kernel_regression_two_kernels() {
  return {
      .name = "two_kernels",
      .summary = "the matrix of differences, then its norms and the sums: the study's third version",
      .check = check_regression,
      .tunables =
          [](const KernelRegression&, const backend::Device&) {
            std::vector<Tunable> tunables;
            const auto all = [](const Block&) { return true; };
            mathematics::add_regression_blocks(tunables, "difference", kDifferenceBlocks, all);
            mathematics::add_regression_blocks(tunables, "norm", kNormBlocks, all);
            return tunables;
          },
      .make =
          [](const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
            const std::shared_ptr<Context>& context = native(device).context();
            return for_rows(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
              return std::make_unique<RegressionInTwoKernels<decltype(element)>>(
                  context, problem, Block{tuning.at("difference_rows"), tuning.at("difference_columns")},
                  Block{tuning.at("norm_rows"), tuning.at("norm_columns")});
            });
          },
  };
}

}  // namespace tessera::cuda
