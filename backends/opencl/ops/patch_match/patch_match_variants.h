// patch_match on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include "backend/variant.h"

#include <tessera/ops/patch_match.h>

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<PatchMatch> patch_match_variants();

[[nodiscard]] backend::Variant<PatchMatch> patch_match_box_sums();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_packed_key_lanes();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_packed_key();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_min_and_swap();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_insertion();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_naive();

}  // namespace tessera::opencl
