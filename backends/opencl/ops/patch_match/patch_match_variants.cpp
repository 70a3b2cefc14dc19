// The variants of patch_match, best first, plain one last.
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

backend::VariantList<PatchMatch> patch_match_variants() {
  return {patch_match_box_sums(),     patch_match_packed_key_lanes(), patch_match_packed_key(),
          patch_match_min_and_swap(), patch_match_insertion(),        patch_match_naive()};
}

}  // namespace tessera::opencl
