// patch_match, packed_key: one work-item a reference, vectors of candidates and keys in registers. See
// patch_match_packed_key.cl.
#include <bit>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/patch_match_geometry.h"
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_packed_key_lanes.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const PatchMatch& problem, const backend::Device& /*device*/) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  return check_groups("patch_match", ceil_div(static_cast<std::uint64_t>(problem.references().product()), kLineGroup));
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  return facts.info.kind == DeviceKind::cpu ? backend::Verdict::yes() : check_enough_references(problem, facts);
}

std::vector<Tunable> tunables(const PatchMatch& /*problem*/, const backend::Device& device) {
  Tunable lanes{.name = "lanes", .meaning = "candidates along x that a work-item compares at a time", .values = {}};
  lanes.values = {4, 8, 16};
  lanes.preferred = native(device).facts().info.kind == DeviceKind::cpu ? 16 : 4;
  return {lanes};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  // A power of two of them, so that few programs are compiled.
  const std::uint64_t places = std::bit_ceil(static_cast<std::uint64_t>(problem.max_patches));
  OperatorLaunch launch =
      patch_launch(problem, native(device), "patch_match_packed_key", embedded::patch_match_packed_key,
                   backend::sentence(" -DLANES=", tuning.at("lanes"), " -DPLACES=", places));
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(problem.references().product()));
  return std::make_unique<OpenclKernel>(std::move(launch));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_packed_key() {
  return {.name = "packed_key",
          .summary = "one work-item a reference, vectors of neighbouring candidates, sorted keys in registers",
          .check = check,
          .tunables = tunables,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::opencl
