// patch_match, naive: one thread a reference. See patch_match_naive.cu.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning&) {
  return std::make_unique<PatchKernel>(native(device).context(), problem, embedded::patch_match_naive,
                                       backend::sentence("tessera_patch_match_naive_", patch_types(problem)),
                                       patch_line(problem.references().product()));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_naive() {
  return {.name = "naive",
          .summary = "one thread a reference, which inserts into its stack in device memory",
          .check = check_thread_of_reference,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::cuda
