// The order of the list is the order of choice.
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::cuda {

backend::VariantList<NonlocalMeans> nonlocal_means_variants() {
  return {nonlocal_means_naive()};
}

}  // namespace tessera::cuda
