// The variant "sequential": the plain loops of patch_match_plain.h (its picture is there) on the queue's own thread. It
// must stay so: it is the baseline of every speed-up that is reported.
#include "ops/patch_match/patch_match_plain.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<PatchMatch> patch_match_sequential() {
  return {
      .name = "sequential",
      .summary = "every candidate voxel by voxel and insertion, on one thread",
      .check = [](const PatchMatch&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const PatchMatch& problem, backend::Device&, const Tuning&) {
            return make_patch_kernel(problem, []<class T>(Executor&, const PatchOperands<T>& match) {
              match_patches(match, 0, match.problem.references().product());
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
