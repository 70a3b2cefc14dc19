// nonlocal_means on OpenCL: the list of its variants, and one row for each, defined beside its kernel.
#pragma once

#include <tessera/ops/nonlocal_means.h>

#include "backend/variant.h"

namespace tessera::opencl {

[[nodiscard]] backend::VariantList<NonlocalMeans> nonlocal_means_variants();

[[nodiscard]] backend::Variant<NonlocalMeans> nonlocal_means_naive();

}  // namespace tessera::opencl
