// What the host code of every gemm kernel shares: the program's source and options, the arguments, and the checks that
// hold for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/gemm.h>

#include "backend/variant.h"
#include "mathematics/gemm_as_computed.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// Yes unless the device cannot compute in the problem's type.
[[nodiscard]] backend::Verdict check_gemm_type(const Gemm& problem, const DeviceFacts& facts);

/// The program `text` with the problem's type and transposes as options, and `more_options` of the variant's own.
/// `name` is for errors.
[[nodiscard]] ProgramSource gemm_program(std::string name, std::string_view text, const Gemm& problem,
                                         const std::string& more_options = {});

/// Work-groups that it takes to cover every C of the batch with blocks of rows x columns. Fits in 64 bits for any
/// problem, since the front half has counted the elements of C.
[[nodiscard]] std::uint64_t gemm_blocks(const Gemm& problem, std::int64_t rows, std::int64_t columns) noexcept;

using mathematics::gemm_as_computed;

/// A, B and C as the memory that a launch begins with.
[[nodiscard]] std::vector<MemoryArgument> gemm_operands(const Gemm& problem);

/// Gemm of gemm_operands.cl. `Real`: what kernels know as `real`.
template <class Real>
struct GemmScalars {
  cl_long m, n, k;
  cl_long lda, ldb, ldc;
  cl_long stride_a, stride_b, stride_c;
  cl_long batch;
  Real alpha, beta;
};
static_assert(sizeof(GemmScalars<cl_float>) == 88 && offsetof(GemmScalars<cl_float>, beta) == 84,
              "gemm_operands.cl says so too");
static_assert(sizeof(GemmScalars<cl_double>) == 96 && offsetof(GemmScalars<cl_double>, beta) == 88,
              "gemm_operands.cl says so too");

/// Sets the scalars of a problem as it is computed, then `more` structs.
template <class Real, class... More>
void set_gemm_structs_in(OperatorLaunch& launch, const Gemm& p, const More&... more) {
  launch.set_structs(GemmScalars<Real>{.m = p.m,
                                       .n = p.n,
                                       .k = p.k,
                                       .lda = p.lda,
                                       .ldb = p.ldb,
                                       .ldc = p.ldc,
                                       .stride_a = p.stride_a,
                                       .stride_b = p.stride_b,
                                       .stride_c = p.stride_c,
                                       .batch = p.batch,
                                       .alpha = static_cast<Real>(p.alpha),
                                       .beta = static_cast<Real>(p.beta)},
                     more...);
}
template <class... More>
void set_gemm_structs(OperatorLaunch& launch, const Gemm& problem, const More&... more) {
  if (problem.type == DataType::float64) {
    set_gemm_structs_in<cl_double>(launch, problem, more...);
  } else {
    set_gemm_structs_in<cl_float>(launch, problem, more...);
  }
}

/// Binds a compiled kernel to the problem: one group of columns x rows work-items for each block of C.
[[nodiscard]] std::unique_ptr<backend::Kernel> bind_gemm(std::unique_ptr<CompiledKernel> kernel, const Gemm& problem,
                                                         std::int64_t rows, std::int64_t columns);

}  // namespace tessera::opencl
