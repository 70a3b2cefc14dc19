// The order of the list is the order of choice.
#include "ops/nonlocal_means/nonlocal_means_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<NonlocalMeans> nonlocal_means_variants() {
  return {nonlocal_means_box_sums(), nonlocal_means_sequential()};
}

}  // namespace tessera::cpu_tbb
