// Options, arguments and shape of a gemm launch.
#include "ops/gemm/gemm_operands.h"

#include <utility>

extern "C" const unsigned char tessera_opencl_gemm_operands[];
extern "C" const unsigned long tessera_opencl_gemm_operands_size;

namespace tessera::opencl {

namespace {

/// The scalars behind the operands, in the kernels' order. alpha = 0 and k = 0 both mean that A and B are not read:
/// both become a sum of no products, taken 0 times, whatever alpha was.
template <class Real>
void set_arguments(OperatorKernel& kernel, const Gemm& problem) {
  Real alpha = static_cast<Real>(problem.alpha);
  const Real beta = static_cast<Real>(problem.beta);
  cl_long k = problem.k;
  if (alpha == 0 || k == 0) {
    alpha = 0;
    k = 0;
  }
  kernel.set_scalars(cl_long{problem.m}, cl_long{problem.n}, k, cl_long{problem.lda}, cl_long{problem.ldb},
                     cl_long{problem.ldc}, alpha, beta);
}

}  // namespace

backend::Verdict check_gemm_type(const Gemm& problem, const DeviceFacts& facts) {
  if (problem.type == DataType::float64 && !facts.info.has_float64) {
    return backend::Verdict::no("gemm is in float64, but '" + facts.info.name + "' computes in float32 at most");
  }
  if (problem.batch != 1) {
    return backend::Verdict::no("batch of gemm is " + std::to_string(problem.batch) + ", but must be 1");
  }
  return backend::Verdict::yes();
}

ProgramSource gemm_program(std::string name, std::string_view kernel_text, const Gemm& problem,
                           const std::string& more_options) {
  std::string text(reinterpret_cast<const char*>(tessera_opencl_gemm_operands), tessera_opencl_gemm_operands_size);
  text += kernel_text;
  std::string options = "-cl-std=CL1.2 -DFLOAT64=" + std::to_string(problem.type == DataType::float64 ? 1 : 0) +
                        " -DTRANSPOSE_A=" + std::to_string(problem.transpose_a ? 1 : 0) +
                        " -DTRANSPOSE_B=" + std::to_string(problem.transpose_b ? 1 : 0) + more_options;
  return {std::move(name), std::move(text), std::move(options)};
}

std::uint64_t gemm_blocks(const Gemm& problem, std::int64_t rows, std::int64_t columns) noexcept {
  const auto count = [](std::int64_t length, std::int64_t block) {
    return static_cast<std::uint64_t>(length / block + (length % block != 0 ? 1 : 0));
  };
  return count(problem.m, rows) * count(problem.n, columns);
}

std::unique_ptr<backend::Kernel> bind_gemm(std::unique_ptr<CompiledKernel> kernel, const Gemm& problem,
                                           std::int64_t rows, std::int64_t columns) {
  NdRange range;
  range.dimensions = 2;
  range.local = {static_cast<std::size_t>(columns), static_cast<std::size_t>(rows), 1};
  range.global = {gemm_blocks(problem, rows, columns) * range.local[0], range.local[1], 1};
  auto bound = std::make_unique<OperatorKernel>(std::move(kernel), range,
                                                std::vector<DataType>{problem.type, problem.type, problem.type});
  if (problem.type == DataType::float64) {
    set_arguments<cl_double>(*bound, problem);
  } else {
    set_arguments<cl_float>(*bound, problem);
  }
  return bound;
}

}  // namespace tessera::opencl
