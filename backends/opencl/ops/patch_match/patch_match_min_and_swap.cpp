// patch_match, min_and_swap: one group a reference; its work-items, and where one of them goes on alone, are tunables.
// See patch_match_min_and_swap.cl.
#include "backend/sentence.h"
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

constexpr std::uint64_t kCandidateBytes = 16;  // its distance and its number

backend::Verdict check(const PatchMatch& problem, const backend::Device& device) {
  return check_patch_groups(problem, native(device).facts(), kCandidateBytes);
}

std::vector<Tunable> tunables(const PatchMatch& /*problem*/, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  Tunable unroll{.name = "unroll", .meaning = "pairs that one work-item reduces in an unrolled loop", .values = {}};
  unroll.values = {1, 4, 16};
  unroll.preferred = facts.info.kind == DeviceKind::cpu ? 16 : 4;
  return {patch_threads(facts), unroll};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  return std::make_unique<OpenclKernel>(patch_launch_of_groups(problem, native(device), "patch_match_min_and_swap",
                                                               embedded::patch_match_min_and_swap, tuning.at("threads"),
                                                               backend::sentence(" -DUNROLL=", tuning.at("unroll"))));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_min_and_swap() {
  return {.name = "min_and_swap",
          .summary = "one group a reference, minimum reductions in place for each place: the study's own algorithm",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
