// conv2d, marching and separable: a work-item marches down a strip of columns. See conv2d_marching.cl.
#include <algorithm>
#include <array>

#include "backend/conv2d_filter.h"
#include "backend/sentence.h"
#include "ops/conv2d/conv2d_images.h"
#include "ops/conv2d/conv2d_variants.h"

extern "C" const unsigned char tessera_opencl_conv2d_marching[];
extern "C" const unsigned long tessera_opencl_conv2d_marching_size;

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

constexpr std::array<std::int64_t, 3> kColumns{4, 8, 16};
constexpr std::array<std::int64_t, 3> kRowsPerRun{16, 32, 128};

bool is_gpu(const backend::Device& device) {
  return native(device).facts().info.kind == DeviceKind::gpu;
}

/// Work-items of a group beside each other: a warp on a GPU; on a CPU a group is one strip, which one thread walks
/// down.
std::int64_t items_of(const backend::Device& device) {
  const auto wanted = is_gpu(device) ? std::uint64_t{32} : std::uint64_t{1};
  return static_cast<std::int64_t>(std::min(wanted, native(device).facts().info.max_group_size));
}

Verdict check_marching(const Conv2d& problem, const backend::Device& device) {
  if (const Verdict size = backend::check_square_3_5_7(problem); !size) return size;
  return check_conv2d_groups("conv2d",
                             conv2d_blocks(problem, kRowsPerRun.front(), kColumns.front() * items_of(device)));
}

Verdict check_separable(const Conv2d& problem, const backend::Device& device) {
  const Verdict march = check_marching(problem, device);
  return march ? backend::check_rank_one(problem) : march;
}

std::vector<Tunable> tunables(const Conv2d& problem, const backend::Device& device) {
  Tunable columns{.name = "columns", .meaning = "pixels beside each other of one work-item", .values = {}};
  columns.values.assign(kColumns.begin(), kColumns.end());
  columns.preferred = is_gpu(device) ? kColumns.front() : kColumns.back();
  Tunable rows{.name = "rows_per_run", .meaning = "rows of the output that one work-item computes", .values = {}};
  rows.values.assign(kRowsPerRun.begin(), kRowsPerRun.end());
  rows.preferred = kRowsPerRun.front();
  // The longest runs that still give every compute unit enough groups: a run reads the rows between two runs again.
  const std::uint64_t groups_per_unit = is_gpu(device) ? 16 : 8;
  const std::uint64_t wanted = groups_per_unit * native(device).facts().info.compute_units;
  for (const std::int64_t candidate : kRowsPerRun) {
    if (conv2d_blocks(problem, candidate, columns.preferred * items_of(device)) >= wanted) rows.preferred = candidate;
  }
  return {columns, rows};
}

std::unique_ptr<backend::Kernel> make(const Conv2d& problem, backend::Device& device, const Tuning& tuning,
                                      const std::vector<double>& weights, bool is_separable) {
  const OpenclDevice& opencl = native(device);
  const std::int64_t columns = tuning.at("columns");
  const std::int64_t rows = tuning.at("rows_per_run");
  const std::int64_t size = problem.filter_height;
  const std::string_view text(reinterpret_cast<const char*>(tessera_opencl_conv2d_marching),
                              tessera_opencl_conv2d_marching_size);
  const auto& program = opencl.programs().build_once(
      conv2d_program("conv2d_marching", text, problem,
                     sentence(" -DSIZE=", size, " -DCOLUMNS=", columns, " -DSEPARABLE=", is_separable ? 1 : 0)));
  auto kernel = std::make_unique<CompiledKernel>(opencl.context(), program.get(), "conv2d_marching");
  const std::int64_t items =
      std::min(items_of(device), static_cast<std::int64_t>(std::max<std::uint64_t>(kernel->max_group_size(), 1)));
  kernel->set(kFirstConv2dExtra, static_cast<cl_int>(rows));
  std::vector<std::uint32_t> bits = conv2d_weight_bits(problem, weights);
  bits.resize(static_cast<std::size_t>(size * size));
  kernel->set(kFirstConv2dExtra + 1, bits.size() * sizeof(std::uint32_t), bits.data());
  std::vector<OperatorLaunch> launches;
  launches.push_back(conv2d_launch(std::move(kernel), problem, {1, items, rows, columns * items}));
  return std::make_unique<OperatorKernel>(std::move(launches));
}

}  // namespace

backend::Variant<Conv2d> conv2d_marching() {
  return {.name = "marching",
          .summary = "a work-item marches down a strip with the sums in registers; filters of 3, 5 and 7",
          .check = check_marching,
          .tunables = tunables,
          .make = [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
            return make(problem, device, tuning, problem.filter, false);
          }};
}

backend::Variant<Conv2d> conv2d_separable() {
  return {.name = "separable",
          .summary = "the march for filters that are a column times a row",
          .check = check_separable,
          .tunables = tunables,
          .make = [](const Conv2d& problem, backend::Device& device, const Tuning& tuning) {
            const auto factors = *backend::rank_one_factors(problem);
            std::vector<double> weights = factors.column;
            weights.insert(weights.end(), factors.row.begin(), factors.row.end());
            return make(problem, device, tuning, weights, true);
          }};
}

}  // namespace tessera::opencl
