// A case of patch_match whose voxels' indices pass 2^31, so that a kernel that computes one in 32 bits is found out. It
// takes 2 to 9 GiB of a device's memory and hardly any of the host's.
#pragma once

#include <memory>

#include "conformance/problem_set.h"

namespace tessera::conformance {

[[nodiscard]] std::unique_ptr<Case> make_huge_patch_case(DataType type);

}  // namespace tessera::conformance
