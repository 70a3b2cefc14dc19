// patch_match, insertion: one group a reference, its threads a tunable. See patch_match_insertion.cu.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  return std::make_unique<PatchKernel>(native(device).context(), problem, embedded::patch_match_insertion,
                                       backend::sentence("tessera_patch_match_insertion_", patch_types(problem)),
                                       groups_of_references(problem, tuning.at("threads")));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_insertion() {
  return {.name = "insertion",
          .summary = "one group a reference, of which one thread inserts: the study's first kernel",
          .check = check_group_of_reference,
          .tunables = [](const PatchMatch&, const backend::Device&) { return std::vector<Tunable>{patch_threads()}; },
          .make = make};
}

}  // namespace tessera::cuda
