// The variants of denoise on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<Denoise> denoise_variants();

[[nodiscard]] backend::Variant<Denoise> denoise_fused();
[[nodiscard]] backend::Variant<Denoise> denoise_staged();

}  // namespace tessera::cpu_tbb
