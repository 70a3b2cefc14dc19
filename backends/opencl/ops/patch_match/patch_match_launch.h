// What the host code of every patch_match kernel shares: the problem as kernels take it, options and operands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/patch_match.h>

#include "backend/variant.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// Match of patch_match_volume.cl: of each axis, x first.
struct PatchShape {
  cl_long size[3], patch[3], places[3], window[3], step[3], references[3], start[3], last_place[3];
  cl_long first_voxel;
  cl_long largest;
  cl_long max_patches;
  cl_float largest_float;
  cl_int number_bits;
};
static_assert(sizeof(PatchShape) == 224, "patch_match_volume.cl says so too");

/// Candidates of a pass: their distances stand in local memory.
inline constexpr std::int64_t kPatchPass = 256;

/// The problem as kernels take it.
[[nodiscard]] PatchShape patch_shape(const PatchMatch& problem) noexcept;

/// Bytes of the type that its kernels sum distances in.
[[nodiscard]] std::int64_t patch_sum_bytes(const PatchMatch& problem) noexcept;

/// A function of a program that computes in the problem's types.
[[nodiscard]] std::unique_ptr<CompiledKernel> compile_patch_match(const PatchMatch& problem, const OpenclDevice& device,
                                                                  const char* function, std::string_view text,
                                                                  const std::string& more_options = {});
/// The operands, with which the memory of most launches begins.
[[nodiscard]] std::vector<MemoryArgument> patch_memory(const PatchMatch& problem);
/// The launch of this function with operands and problem, whose range is not set yet.
[[nodiscard]] OperatorLaunch patch_launch(const PatchMatch& problem, const OpenclDevice& device, const char* function,
                                          std::string_view text, const std::string& more_options = {});
/// The same with a group of so many work-items a reference, by a program with the options GROUP and PASS.
[[nodiscard]] OperatorLaunch patch_launch_of_groups(const PatchMatch& problem, const OpenclDevice& device,
                                                    const char* function, std::string_view text, std::int64_t group,
                                                    const std::string& more_options = {});

/// Yes unless a group for each reference is more than one launch takes, or its stack and its pass, with so many bytes a
/// candidate, are more than the device's local memory.
[[nodiscard]] backend::Verdict check_patch_groups(const PatchMatch& problem, const DeviceFacts& facts,
                                                  std::uint64_t candidate_bytes);
/// The tunable "threads": work-items of a reference's group.
[[nodiscard]] Tunable patch_threads(const DeviceFacts& facts);

}  // namespace tessera::opencl
