// patch_match, naive: one work-item a reference. See patch_match_naive.cl.
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const PatchMatch& problem, const backend::Device& /*device*/) {
  return check_groups("patch_match", ceil_div(static_cast<std::uint64_t>(problem.references().product()), kLineGroup));
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& /*tuning*/) {
  OperatorLaunch launch = patch_launch(problem, native(device), "patch_match_naive", embedded::patch_match_naive);
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(problem.references().product()));
  return std::make_unique<OpenclKernel>(std::move(launch));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_naive() {
  return {.name = "naive",
          .summary = "one work-item a reference, which inserts into its stack in global memory",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
