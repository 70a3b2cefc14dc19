// gemm, register, through local memory: shapes, limits and launches. See register_local.cl.
#include <algorithm>
#include <array>
#include <utility>

#include "ops/gemm/gemm_register.h"

extern "C" const unsigned char tessera_opencl_gemm_register_local[];
extern "C" const unsigned long tessera_opencl_gemm_register_local_size;

namespace tessera::opencl {

namespace {

/// What register_local.cl leaves open.
struct Shape {
  std::int64_t tile_m;
  std::int64_t tile_n;
  std::int64_t work_m;
  std::int64_t work_n;
  std::int64_t depth;
  std::int64_t slices = 1;

  [[nodiscard]] std::uint64_t group_size() const {
    return static_cast<std::uint64_t>(tile_m / work_m * (tile_n / work_n) * slices);
  }
  /// Two pairs of tiles, with the longest rows that transposes may ask for, and in their place later the slices' sums.
  [[nodiscard]] std::uint64_t local_bytes(DataType type) const {
    constexpr std::int64_t kVectorBytes = 16;
    const auto element = static_cast<std::int64_t>(size_bytes(type));
    const std::int64_t tiles = 2 * depth * ((tile_m + tile_n) * element + 2 * kVectorBytes);
    const std::int64_t sums = work_n * kVectorBytes * static_cast<std::int64_t>(group_size());
    return static_cast<std::uint64_t>(slices > 1 ? std::max(tiles, sums) : tiles);
  }
  [[nodiscard]] std::string options() const {
    return " -DTILE_M=" + std::to_string(tile_m) + " -DTILE_N=" + std::to_string(tile_n) +
           " -DWORK_M=" + std::to_string(work_m) + " -DWORK_N=" + std::to_string(work_n) +
           " -DDEPTH=" + std::to_string(depth) + " -DSLICES=" + std::to_string(slices);
  }
};

/// Measured on an H200 (driver 580) over all of {256, 512, 1024, 2048}^3: those from 32 on are within 1 % of the best
/// of 12 shapes in the geometric mean; three without slices were at 86 % (float64 94 %).
Shape shape_of(std::int64_t tile, DataType type) {
  if (type == DataType::float64) {
    switch (tile) {
      case 16: return {16, 64, 4, 4, 8};
      case 32: return {32, 32, 8, 4, 16, 4};
      case 64: return {64, 64, 8, 8, 16, 4};
      case 96: return {64, 128, 8, 8, 8, 2};
      default: return {64, 128, 8, 8, 8};
    }
  }
  switch (tile) {
    case 16: return {16, 64, 4, 4, 16};
    case 32: return {32, 32, 8, 4, 32, 4};
    case 48: return {32, 64, 8, 8, 32, 8};
    case 64: return {64, 64, 8, 8, 32, 4};
    case 96: return {64, 128, 8, 8, 16, 2};
    default: return {128, 128, 8, 8, 16};
  }
}

std::uint64_t group_count(const Gemm& problem, const Shape& shape) {
  return gemm_blocks(problem, shape.tile_m, shape.tile_n);
}

}  // namespace

backend::Verdict check_register_local(const Gemm& problem, const OpenclDevice& device, std::int64_t tile) {
  using backend::Verdict;
  const DeviceInfo& info = device.facts().info;
  const Shape shape = shape_of(tile, problem.type);
  const std::string with = "gemm with tile = " + std::to_string(tile);
  const std::uint64_t group = shape.group_size();
  if (group > info.max_group_size || group > info.max_group_extent[0]) {
    return Verdict::no(with + " takes work-groups of " + std::to_string(group) + ", but '" + info.name + "' allows " +
                       std::to_string(std::min(info.max_group_size, info.max_group_extent[0])));
  }
  if (const std::uint64_t bytes = shape.local_bytes(problem.type); bytes > info.local_memory_bytes) {
    return Verdict::no(with + " takes " + std::to_string(bytes) + " bytes of local memory, but '" + info.name +
                       "' has " + std::to_string(info.local_memory_bytes));
  }
  // With k in parts there are more groups, but then the workspace keeps C, and so the number of groups, small.
  return check_gemm_groups(with, group_count(problem, shape));
}

std::unique_ptr<backend::Kernel> make_register_local(const Gemm& problem, const OpenclDevice& device,
                                                     const RegisterTuning& tuning) {
  const Shape shape = shape_of(tuning.tile, problem.type);
  const Gemm computed = gemm_as_computed(problem);
  const KParts parts = cut_k(computed, tuning.split_k, shape.depth);
  std::string text(reinterpret_cast<const char*>(tessera_opencl_gemm_register_local),
                   tessera_opencl_gemm_register_local_size);
  text += register_sum_text();
  const auto& program =
      device.programs().build_once(gemm_program("gemm_register_local", text, problem, shape.options()));

  OperatorLaunch multiply;
  multiply.kernel = std::make_unique<CompiledKernel>(device.context(), program.get(), "gemm_register_local");
  const std::uint64_t groups = group_count(computed, shape) * static_cast<std::uint64_t>(parts.count);
  multiply.range = {1, {groups * shape.group_size(), 1, 1}, {shape.group_size(), 1, 1}};
  multiply.memory = gemm_operands(problem);
  if (parts.count > 1) multiply.memory[2].place = MemoryArgument::kWorkspace;
  set_gemm_scalars(multiply, parts.problem_of_sums(computed), cl_long{problem.batch}, cl_long{parts.length});

  std::vector<OperatorLaunch> launches;
  launches.push_back(std::move(multiply));
  if (parts.count > 1) {
    auto sum = std::make_unique<CompiledKernel>(device.context(), program.get(), "gemm_register_sum");
    launches.push_back(launch_of_sum(std::move(sum), computed, parts, 0));
  }
  return std::make_unique<OperatorKernel>(std::move(launches),
                                          static_cast<std::size_t>(parts.elements) * size_bytes(problem.type));
}

}  // namespace tessera::opencl
