// What the host code of every gemm kernel shares: the program's source and options, the arguments, and the checks that
// hold for all of them.
#pragma once

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

/// Calls `visit` with a zero of the type that kernels know as `real`.
template <class Visit>
void with_real(DataType type, Visit visit) {
  if (type == DataType::float64) {
    visit(cl_double{0});
  } else {
    visit(cl_float{0});
  }
}

/// Sets the scalars of GEMM_PARAMETERS, then `more`, for a problem as it is computed.
template <class... More>
void set_gemm_scalars(OperatorLaunch& launch, const Gemm& problem, const More&... more) {
  with_real(problem.type, [&](auto zero) {
    using Real = decltype(zero);
    launch.set_scalars(cl_long{problem.m}, cl_long{problem.n}, cl_long{problem.k}, cl_long{problem.lda},
                       cl_long{problem.ldb}, cl_long{problem.ldc}, cl_long{problem.stride_a}, cl_long{problem.stride_b},
                       cl_long{problem.stride_c}, static_cast<Real>(problem.alpha), static_cast<Real>(problem.beta),
                       more...);
  });
}

/// Binds a compiled kernel to the problem: one group of columns x rows work-items for each block of C.
[[nodiscard]] std::unique_ptr<backend::Kernel> bind_gemm(std::unique_ptr<CompiledKernel> kernel, const Gemm& problem,
                                                         std::int64_t rows, std::int64_t columns);

}  // namespace tessera::opencl
