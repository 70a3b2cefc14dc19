// What the host code of every gemm kernel shares: the program's source and options, the scalar arguments, and the
// checks that hold for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tessera/ops/gemm.h>

#include "backend/variant.h"
#include "opencl_device.h"
#include "opencl_kernel.h"

namespace tessera::opencl {

/// Yes unless the device cannot compute in the problem's type.
[[nodiscard]] backend::Verdict check_gemm_type(const Gemm& problem, const DeviceFacts& facts);

/// The program of one kernel file: gemm_operands.cl before `kernel_text`, the problem's type and transposes as options,
/// and `more_options` of the variant's own.
[[nodiscard]] ProgramSource gemm_program(std::string name, std::string_view kernel_text, const Gemm& problem,
                                         const std::string& more_options = {});

/// Work-groups that it takes to cover C with blocks of rows x columns. Fits in 64 bits for any problem.
[[nodiscard]] std::uint64_t gemm_blocks(const Gemm& problem, std::int64_t rows, std::int64_t columns) noexcept;
/// The most work-groups that one launch is trusted with: the first extent of a grid on NVIDIA holds no more.
inline constexpr std::uint64_t kMaxGroups = 2147483647;

/// Binds a compiled kernel to the problem: one group of columns x rows work-items for each block of C, groups in one
/// line so that neither a tall nor a wide C meets the limit of a second extent.
[[nodiscard]] std::unique_ptr<backend::Kernel> bind_gemm(std::unique_ptr<CompiledKernel> kernel, const Gemm& problem,
                                                         std::int64_t rows, std::int64_t columns);

}  // namespace tessera::opencl
