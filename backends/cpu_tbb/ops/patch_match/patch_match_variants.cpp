// The order of the list is the order of choice.
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<PatchMatch> patch_match_variants() {
  return {patch_match_box_sums(), patch_match_packed_key(), patch_match_naive(), patch_match_sequential()};
}

}  // namespace tessera::cpu_tbb
