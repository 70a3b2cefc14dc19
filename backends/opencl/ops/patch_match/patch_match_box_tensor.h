// patch_match, box_sums on NVIDIA's tensor cores, a reference at every place: what box_sums takes there in place of
// patch_match_box_sums.cl.
#pragma once

#include <memory>

#include "ops/patch_match/patch_match_launch.h"

namespace tessera::opencl {

/// Is there a program for these patches and windows, and does the device run it?
[[nodiscard]] bool has_patch_box_tensor(const PatchMatch& problem, const DeviceFacts& facts);

/// Of problems that have one: may it be launched, and is it the fastest?
[[nodiscard]] backend::Verdict check_patch_box_tensor(const PatchMatch& problem);
[[nodiscard]] backend::Verdict patch_box_tensor_pays(const PatchMatch& problem, const DeviceFacts& facts);

[[nodiscard]] std::unique_ptr<backend::Kernel> make_patch_box_tensor(const PatchMatch& problem,
                                                                     const OpenclDevice& device);

}  // namespace tessera::opencl
