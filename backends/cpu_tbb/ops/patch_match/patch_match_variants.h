// The variants of patch_match on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<PatchMatch> patch_match_variants();

[[nodiscard]] backend::Variant<PatchMatch> patch_match_packed_key();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_box_sums();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_naive();
[[nodiscard]] backend::Variant<PatchMatch> patch_match_sequential();

}  // namespace tessera::cpu_tbb
