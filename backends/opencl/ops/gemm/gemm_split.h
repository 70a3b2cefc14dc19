// gemm, split: its copies of operands and who makes them, for kernels of other operators that multiply such copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/gemm/gemm_split_choice.h"

namespace tessera::opencl {

/// Bytes that a row takes for each step of 16 of k, and its note (gemm_split_panels.cl).
inline constexpr std::int64_t kGemmSplitRowStepBytes = 64, kGemmSplitNoteBytes = 8;

/// Split of gemm_split_panels.cl.
struct GemmSplitPlan {
  cl_long steps;
  cl_long a_rows, b_rows;
  cl_long a_matrices, b_matrices;
  cl_long b_panels;
  cl_long a_notes, b_notes;
  cl_long products;
  cl_long batch;
  cl_int band;
  cl_float doubt_of_one;
};
static_assert(sizeof(GemmSplitPlan) == 88, "gemm_split_panels.cl says so too");

/// Has the device what split multiplies with?
[[nodiscard]] backend::Verdict check_gemm_split_device(const DeviceFacts& facts);

/// A program that multiplies tiles of this shape.
[[nodiscard]] ProgramSource gemm_split_program(std::string name, std::string_view text, const Gemm& problem,
                                               const GemmSplitShape& shape);

/// GemmSplitPlan::band for A with so many rows.
[[nodiscard]] std::int64_t gemm_split_band(const GemmSplitShape& shape, std::int64_t rows) noexcept;

/// The launch that copies what matrices `plan` says there are; it takes the number of its round. `memory`: A, B, and
/// where copies go. `problem` is as it is computed.
[[nodiscard]] OperatorLaunch launch_of_split_preparation(const Gemm& problem, const OpenclDevice& device,
                                                         const GemmSplitShape& shape, const GemmSplitPlan& plan,
                                                         std::vector<MemoryArgument> memory);

}  // namespace tessera::opencl
