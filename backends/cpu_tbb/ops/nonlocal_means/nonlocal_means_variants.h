// The variants of nonlocal_means on the CPU, each in its own file.
#pragma once

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Best first, plain one last.
[[nodiscard]] backend::VariantList<NonlocalMeans> nonlocal_means_variants();

[[nodiscard]] backend::Variant<NonlocalMeans> nonlocal_means_box_sums();
[[nodiscard]] backend::Variant<NonlocalMeans> nonlocal_means_sequential();

}  // namespace tessera::cpu_tbb
