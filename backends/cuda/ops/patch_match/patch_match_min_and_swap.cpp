// patch_match, min_and_swap: one group a reference; its threads, and how many of its pairs each takes in an
// unrolled loop, are tunables. See patch_match_min_and_swap.cu.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

std::vector<Tunable> tunables(const PatchMatch&, const backend::Device&) {
  return {patch_threads(),
          {.name = "unroll",
           .meaning = "pairs that one thread reduces in an unrolled loop",
           .values = {1, 4, 16},
           .preferred = 4}};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  return std::make_unique<PatchKernel>(
      native(device).context(), problem, embedded::patch_match_min_and_swap,
      backend::sentence("tessera_patch_match_min_and_swap_", tuning.at("unroll"), "_", patch_types(problem), "_",
                        problem.patch == PerAxis{4, 4, 4} ? 4 : 0),
      groups_of_references(problem, tuning.at("threads")));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_min_and_swap() {
  return {.name = "min_and_swap",
          .summary = "one group a reference, minimum reductions in place for each place: the study's own algorithm",
          .check = check_group_of_reference,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::cuda
