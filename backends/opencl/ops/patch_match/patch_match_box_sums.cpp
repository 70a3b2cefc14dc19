// patch_match, box_sums: one group a tile of references, which share sums of squares. See patch_match_box_sums.cl, and
// for a reference at every place on NVIDIA's tensor cores patch_match_box_tensor.cpp.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/patch_match_box_tiles.h"
#include "opencl_embedded.h"
#include "ops/patch_match/patch_match_box_tensor.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::opencl {

namespace {

/// Tiles of patch_match_box_sums.cl: along x in places, along y and z in references.
struct BoxTiles {
  cl_long tiles[2];
  cl_int columns;
  cl_int references[2];
  cl_int rows;
  cl_int planes;
  cl_int planes_at_once;
};
static_assert(sizeof(BoxTiles) == 40, "patch_match_box_sums.cl says so too");

/// How a problem is cut on a device. On processors a work-item has a tile, and what it reuses stays in the first cache.
mathematics::PatchBoxTiles tiles_of(const PatchMatch& problem, const DeviceFacts& facts, std::int64_t lanes) {
  const bool is_cpu = facts.info.kind == DeviceKind::cpu;
  return {problem,
          {.most = {is_cpu ? 64 : 32, 8, 8},
           .lanes = lanes,
           .plane_by_plane = is_cpu,
           .sum_bytes = patch_sum_bytes(problem),
           .bytes = facts.info.local_memory_bytes}};
}

BoxTiles arguments_of(const mathematics::PatchBoxTiles& tiles) {
  return {.tiles = {tiles.count(0), tiles.count(1)},
          .columns = static_cast<cl_int>(tiles.most(0)),
          .references = {static_cast<cl_int>(tiles.most(1)), static_cast<cl_int>(tiles.most(2))},
          .rows = static_cast<cl_int>(tiles.rows()),
          .planes = static_cast<cl_int>(tiles.planes()),
          .planes_at_once = static_cast<cl_int>(tiles.planes_at_once())};
}

/// The step up to which neighbours share enough.
constexpr std::int64_t kLargestStep = 1;
constexpr std::int64_t kMostLanes = 16;

backend::Verdict check(const PatchMatch& problem, const backend::Device& device) {
  using backend::sentence;
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  const DeviceFacts& facts = native(device).facts();
  if (has_patch_box_tensor(problem, facts)) return check_patch_box_tensor(problem);
  const mathematics::PatchBoxTiles tiles = tiles_of(problem, facts, kMostLanes);
  if (tiles.is_too_large())
    return backend::Verdict::no(sentence("a tile of patch_match takes ", tiles.bytes(), " bytes of local memory, but '",
                                         facts.info.name, "' has ", facts.info.local_memory_bytes));
  if (tiles.tiles() > static_cast<double>(kMaxGroups))
    return backend::Verdict::no(
        sentence("patch_match takes ", tiles.tiles(), " tiles, but one launch has at most ", kMaxGroups));
  return backend::Verdict::yes();
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (has_patch_box_tensor(problem, facts)) return patch_box_tensor_pays(problem, facts);
  if (facts.info.kind != DeviceKind::cpu)
    return backend::Verdict::no("on what is no processor packed_key_lanes and packed_key are faster");
  const std::int64_t largest = std::max({problem.step.x, problem.step.y, problem.step.z});
  if (largest > kLargestStep)
    return backend::Verdict::no(backend::sentence("the largest step of patch_match is ", largest,
                                                  ", but neighbours share sums up to a step of ", kLargestStep));
  return backend::Verdict::yes();
}

std::vector<Tunable> tunables(const PatchMatch& problem, const backend::Device& device) {
  if (has_patch_box_tensor(problem, native(device).facts())) return {};
  Tunable lanes{.name = "lanes", .meaning = "places along x that a work-item sums at a time", .values = {}};
  lanes.values = {4, 8, kMostLanes};
  lanes.preferred = native(device).facts().info.kind == DeviceKind::cpu ? kMostLanes : 4;
  return {lanes};
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning& tuning) {
  const DeviceFacts& facts = native(device).facts();
  if (has_patch_box_tensor(problem, facts)) return make_patch_box_tensor(problem, native(device));
  const mathematics::PatchBoxTiles tiles = tiles_of(problem, facts, tuning.at("lanes"));
  const std::size_t group =
      facts.info.kind == DeviceKind::cpu ? 1 : std::min<std::size_t>(256, facts.info.max_group_size);
  const bool is_usual = problem.patch == PerAxis{4, 4, 4};
  OperatorLaunch launch = patch_launch(
      problem, native(device), "patch_match_box_sums", embedded::patch_match_box_sums,
      backend::sentence(" -DLANES=", tuning.at("lanes"), " -DGROUP=", group, " -DPATCH=", is_usual ? 4 : 0));
  launch.set_structs(patch_shape(problem), arguments_of(tiles));
  const auto local = static_cast<cl_uint>(2 * launch.memory.size() + launch.struct_count);
  launch.kernel->set(local, static_cast<std::size_t>(tiles.bytes()), nullptr);
  launch.range = {1, {static_cast<std::size_t>(tiles.tiles()) * group, 1, 1}, {group, 1, 1}};
  return std::make_unique<OpenclKernel>(std::move(launch));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_box_sums() {
  return {
      .name = "box_sums",
      .summary = "one group a tile of references, one offset after the other, sums of squares that neighbours share",
      .check = check,
      .tunables = tunables,
      .make = make,
      .pays = pays};
}

}  // namespace tessera::opencl
