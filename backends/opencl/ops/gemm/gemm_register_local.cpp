// gemm, register, through local memory: shapes, limits and launches. See gemm_register_local.cl.
#include <algorithm>
#include <array>
#include <utility>

#include "opencl_embedded.h"
#include "ops/gemm/gemm_local_tile.h"
#include "ops/gemm/gemm_register.h"

namespace tessera::opencl {

namespace {

/// These few shapes suffice: over all of {256, 512, 1024, 2048}^3 on an H200 (driver 580) they are within 1 % of the
/// best of 12 shapes in the geometric mean. Small tiles need slices: without them only 86 % were reached.
LocalTileShape shape_of(std::int64_t tile, DataType type, int tensor_cores) {
  // With tensor cores 64 x 64 is faster without slices: 55.9 us at 1024^3, 59.2 with two (H200).
  if (type == DataType::float64 && tensor_cores != 0) {
    switch (tile) {
      case 32: return {32, 32, 4, 8, 16, 4, 4, tensor_cores};
      case 48: return {64, 32, 4, 8, 8, 2, 4, tensor_cores};
      case 64: return {64, 64, 4, 8, 8, 1, 5, tensor_cores};
      default: return {128, 64, 8, 8, 8, 1, 3, tensor_cores};
    }
  }
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

std::uint64_t group_count(const Gemm& problem, const LocalTileShape& shape) {
  return gemm_blocks(problem, shape.tile_m, shape.tile_n);
}

}  // namespace

backend::Verdict check_register_local(const Gemm& problem, const OpenclDevice& device, std::int64_t tile) {
  using backend::Verdict;
  const DeviceInfo& info = device.facts().info;
  const LocalTileShape shape = shape_of(tile, problem.type, device.facts().float64_tensor_cores);
  const std::string with = "gemm with tile = " + std::to_string(tile);
  if (Verdict verdict = check_local_tile(with, shape, problem.type, info); !verdict) return verdict;
  // Parts of k multiply the number of groups, but k is split only where C fits the workspace, so that there are few.
  return check_groups(with, group_count(problem, shape));
}

std::unique_ptr<backend::Kernel> make_register_local(const Gemm& problem, const OpenclDevice& device,
                                                     const RegisterTuning& tuning) {
  const LocalTileShape shape = shape_of(tuning.tile, problem.type, device.facts().float64_tensor_cores);
  const Gemm computed = gemm_as_computed(problem);
  const KParts parts = cut_k(computed, tuning.split_k, shape.depth);
  const auto& program = device.programs().build_once(
      gemm_program("gemm_register_local", embedded::gemm_register_local, problem, shape.options()));

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
