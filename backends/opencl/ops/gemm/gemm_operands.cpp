// Options, arguments and shape of a gemm launch.
#include "ops/gemm/gemm_operands.h"

#include <utility>

namespace tessera::opencl {

backend::Verdict check_gemm_type(const Gemm& problem, const DeviceFacts& facts) {
  if (problem.type == DataType::float64 && !facts.info.has_float64) {
    return backend::Verdict::no("gemm is in float64, but '" + facts.info.name + "' computes in float32 at most");
  }
  return backend::Verdict::yes();
}

ProgramSource gemm_program(std::string name, std::string_view text, const Gemm& problem,
                           const std::string& more_options) {
  std::string options = "-cl-std=CL1.2 -DFLOAT64=" + std::to_string(problem.type == DataType::float64 ? 1 : 0) +
                        " -DTRANSPOSE_A=" + std::to_string(problem.transpose_a ? 1 : 0) +
                        " -DTRANSPOSE_B=" + std::to_string(problem.transpose_b ? 1 : 0) + more_options;
  return {std::move(name), std::string(text), std::move(options)};
}

std::uint64_t gemm_blocks(const Gemm& problem, std::int64_t rows, std::int64_t columns) noexcept {
  return static_cast<std::uint64_t>(ceil_div(problem.m, rows)) *
         static_cast<std::uint64_t>(ceil_div(problem.n, columns)) * static_cast<std::uint64_t>(problem.batch);
}

std::vector<MemoryArgument> gemm_operands(const Gemm& problem) {
  return {{.place = 0, .type = problem.type}, {.place = 1, .type = problem.type}, {.place = 2, .type = problem.type}};
}

std::unique_ptr<backend::Kernel> bind_gemm(std::unique_ptr<CompiledKernel> kernel, const Gemm& problem,
                                           std::int64_t rows, std::int64_t columns) {
  OperatorLaunch launch;
  launch.kernel = std::move(kernel);
  launch.range.dimensions = 2;
  launch.range.local = {static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), 1};
  launch.range.global = {gemm_blocks(problem, rows, columns) * launch.range.local[0], launch.range.local[1], 1};
  launch.memory = gemm_operands(problem);
  set_gemm_structs(launch, gemm_as_computed(problem));
  return std::make_unique<OpenclKernel>(std::move(launch));
}

}  // namespace tessera::opencl
