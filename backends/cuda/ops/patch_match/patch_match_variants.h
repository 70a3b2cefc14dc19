// The variants of patch_match on CUDA, each in its own file.
#pragma once

#include <tessera/ops/patch_match.h>

#include "backend/variant.h"

namespace tessera::cuda {

[[nodiscard]] backend::Variant<PatchMatch> patch_match_box_sums();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_packed_key();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_min_and_swap();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_insertion();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_naive();

[[nodiscard]] backend::VariantList<PatchMatch> patch_match_variants();

}  // namespace tessera::cuda
