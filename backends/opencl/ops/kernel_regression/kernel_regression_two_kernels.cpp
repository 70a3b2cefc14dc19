// kernel_regression, two_kernels: the matrix of differences, then norms and sums; both blocks are tunables. See
// kernel_regression_two_kernels.cl.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/kernel_regression_blocks.h"
#include "opencl_embedded.h"
#include "ops/kernel_regression/kernel_regression_expected.h"
#include "ops/kernel_regression/kernel_regression_launch.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::opencl {

namespace {

/// The first that the device can have is preferred.
using Block = mathematics::RegressionBlock;
constexpr std::array<Block, 6> kDifferenceBlocks{{{16, 16}, {8, 32}, {8, 8}, {1, 256}, {1, 64}, {1, 1}}};
constexpr std::array<Block, 6> kNormBlocks{{{16, 16}, {8, 32}, {8, 8}, {256, 1}, {64, 1}, {1, 1}}};

bool fits(const Block& block, const DeviceInfo& info) {
  const auto rows = static_cast<std::uint64_t>(block.first);
  const auto columns = static_cast<std::uint64_t>(block.second);
  return rows * columns <= info.max_group_size && columns <= info.max_group_extent[0] &&
         rows <= info.max_group_extent[1];
}

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  return check_whole_regression(problem, native(device).facts());
}

std::vector<Tunable> tunables(const KernelRegression& /*problem*/, const backend::Device& device) {
  const DeviceInfo& info = native(device).facts().info;
  const auto fits_device = [&](const Block& block) { return fits(block, info); };
  std::vector<Tunable> tunables;
  mathematics::add_regression_blocks(tunables, "difference", kDifferenceBlocks, fits_device);
  mathematics::add_regression_blocks(tunables, "norm", kNormBlocks, fits_device);
  return tunables;
}

/// A launch over so many columns, and the rows of a chunk.
NdRange range_of(std::int64_t columns, std::int64_t rows, const Block& block) {
  const auto padded = [](std::int64_t size, std::int64_t piece) {
    return static_cast<std::size_t>(ceil_div(size, piece) * piece);
  };
  return {2,
          {padded(columns, block.second), padded(rows, block.first), 1},
          {static_cast<std::size_t>(block.second), static_cast<std::size_t>(block.first), 1}};
}

std::unique_ptr<backend::Kernel> make(const KernelRegression& problem, backend::Device& device, const Tuning& tuning) {
  const DataType difference = problem.type == DataType::uint8 ? DataType::int16 : problem.type;
  const RegressionPlan plan(problem, native(device),
                            static_cast<std::size_t>(problem.columns) * size_bytes(difference));
  const Block difference_block{tuning.at("difference_rows"), tuning.at("difference_columns")};
  const Block norm_block{tuning.at("norm_rows"), tuning.at("norm_columns")};
  const std::string options =
      backend::sentence(" -DNORM_ROWS=", norm_block.first, " -DNORM_COLUMNS=", norm_block.second);
  const auto compiled = [&](const char* function) {
    return plan.compile(function, embedded::kernel_regression_two_kernels, options);
  };
  OperatorRun run{.launches = {}, .rounds = plan.rounds()};
  for (const auto& [function, range] :
       {std::pair{"kernel_regression_differences",
                  range_of(problem.columns, plan.shape().rows_of_chunk, difference_block)},
        std::pair{"kernel_regression_norms", range_of(norm_block.second, plan.shape().rows_of_chunk, norm_block)}}) {
    OperatorLaunch launch;
    launch.kernel = compiled(function);
    launch.range = range;
    launch.memory = plan.memory();
    launch.memory.push_back(plan.chunk(difference));
    launch.set_structs(plan.shape());
    run.launches.push_back(std::move(launch));
  }
  run.launches.push_back(plan.launch_of_sums());
  return std::make_unique<OpenclKernel>(std::move(run), plan.workspace_bytes());
}

backend::Verdict pays(const KernelRegression& problem, const backend::Device& device) {
  return regression_is_fastest("two_kernels", problem, device);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_two_kernels() {
  return {.name = "two_kernels",
          .summary = "the matrix of differences, then its norms and the sums: the study's third version",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
