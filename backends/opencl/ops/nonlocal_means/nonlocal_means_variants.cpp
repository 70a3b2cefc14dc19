// The variants of nonlocal_means, best first, plain one last.
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::opencl {

backend::VariantList<NonlocalMeans> nonlocal_means_variants() {
  return {nonlocal_means_naive()};
}

}  // namespace tessera::opencl
