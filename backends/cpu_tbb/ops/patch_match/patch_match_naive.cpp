// The variant "naive": the plain loops of patch_match_plain.h (its picture is there), references dealt to the threads.
// Nothing is reused on purpose; what it gains over "sequential" is threads alone.
#include "ops/patch_match/patch_match_plain.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<PatchMatch> patch_match_naive() {
  return {
      .name = "naive",
      .summary = "every candidate voxel by voxel and insertion, references spread over the threads",
      .check = [](const PatchMatch&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const PatchMatch& problem, backend::Device&, const Tuning&) {
            return make_patch_kernel(problem, []<class T>(Executor& executor, const PatchOperands<T>& match) {
              executor.parallel_for(match.problem.references().product(),
                                    [&](std::int64_t first, std::int64_t last) { match_patches(match, first, last); });
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
