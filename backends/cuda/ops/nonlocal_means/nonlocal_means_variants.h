// The variants of nonlocal_means on CUDA, each in its own file.
#pragma once

#include <tessera/ops/nonlocal_means.h>

#include "backend/variant.h"

namespace tessera::cuda {

[[nodiscard]] backend::Variant<NonlocalMeans> nonlocal_means_naive();

[[nodiscard]] backend::VariantList<NonlocalMeans> nonlocal_means_variants();

}  // namespace tessera::cuda
