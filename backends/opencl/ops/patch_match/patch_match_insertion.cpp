// patch_match, insertion: one group a reference, its work-items a tunable. See patch_match_insertion.cl.
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

constexpr std::uint64_t kCandidateBytes = 8;  // its distance

backend::Verdict check(const PatchMatch& problem, const backend::Device& device) {
  return check_patch_groups(problem, native(device).facts(), kCandidateBytes);
}

std::vector<Tunable> tunables(const PatchMatch& /*problem*/, const backend::Device& device) {
  return {patch_threads(native(device).facts())};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  return std::make_unique<OpenclKernel>(patch_launch_of_groups(problem, native(device), "patch_match_insertion",
                                                               embedded::patch_match_insertion, tuning.at("threads")));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_insertion() {
  return {.name = "insertion",
          .summary = "one group a reference, of which one work-item inserts: the study's first kernel",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
