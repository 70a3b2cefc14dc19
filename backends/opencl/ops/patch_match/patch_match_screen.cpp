// Tiles of patch_match_screen.cl and patch_match_screen_planes.cl, and their launch.
#include "ops/patch_match/patch_match_screen.h"

#include <algorithm>

#include "backend/sentence.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// NORM_RUN and NORMS_AROUND of patch_match_screen_norms.cl.
constexpr std::int64_t kNormRun = 16;
constexpr std::int64_t kNormsAround = 64;

/// The largest tile that finds room.
std::optional<mathematics::PatchScreenTile> tile_for(const PatchMatch& problem, const DeviceFacts& facts,
                                                     bool by_planes) {
  const std::vector<std::int64_t> lines =
      by_planes ? std::vector<std::int64_t>{16, 8} : std::vector<std::int64_t>{4, 3, 2};
  const auto voxel_bytes = static_cast<std::int64_t>(by_planes ? sizeof(float) : size_bytes(problem.type));
  for (const std::int64_t tile_y : lines) {
    const mathematics::PatchScreenTile tile(problem, tile_y, voxel_bytes, by_planes);
    if (static_cast<std::uint64_t>(tile.bytes()) <= facts.info.local_memory_bytes &&
        static_cast<std::uint64_t>(tile.threads()) <= facts.info.max_group_size &&
        tile.tiles(problem.references()) <= static_cast<double>(kMaxGroups)) {
      return tile;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<PatchScreen> PatchScreen::all(const PatchMatch& problem, const DeviceFacts& facts) {
  std::vector<PatchScreen> screens;
  if (!mathematics::is_screened(problem)) return screens;
  for (const bool by_planes : {false, true}) {
    if (by_planes && !mathematics::has_patch_screen_by_planes(problem)) continue;
    if (const auto tile = tile_for(problem, facts, by_planes)) screens.push_back(PatchScreen(*tile, by_planes));
  }
  // A processor's local memory is ordinary memory, so that holding less of a region saves nothing there.
  if (facts.info.kind != DeviceKind::cpu) std::reverse(screens.begin(), screens.end());
  return screens;
}

std::optional<PatchScreen> PatchScreen::of(const PatchMatch& problem, const DeviceFacts& facts) {
  const std::vector<PatchScreen> screens = all(problem, facts);
  return screens.empty() ? std::nullopt : std::optional(screens.front());
}

OperatorLaunch PatchScreen::launch(const PatchMatch& problem, const OpenclDevice& device) const {
  OperatorLaunch launch = patch_launch(problem, device, by_planes_ ? "patch_match_screen_planes" : "patch_match_screen",
                                       by_planes_ ? embedded::patch_match_screen_planes : embedded::patch_match_screen,
                                       options(problem, false));
  finish(launch, problem);
  return launch;
}

std::vector<OperatorLaunch> PatchScreen::launches_by_norms(const PatchMatch& problem,
                                                           const OpenclDevice& device) const {
  const mathematics::PatchGeometry g(problem);
  const MemoryArgument memory{.place = MemoryArgument::kWorkspace, .type = DataType::int32};
  const auto compile = [&](const char* function) {
    return compile_patch_match(problem, device, function, embedded::patch_match_screen_planes, options(problem, true));
  };
  std::vector<OperatorLaunch> launches(2);
  OperatorLaunch& norms = launches[0];
  norms.kernel = compile("patch_match_screen_norms");
  norms.memory = {patch_memory(problem)[0], memory};
  norms.set_structs(patch_shape(problem));
  norms.range = line_of(*norms.kernel, static_cast<std::uint64_t>(g.x.places * g.y.places *
                                                                  ceil_div<std::int64_t>(g.z.places, kNormRun)));
  OperatorLaunch& screen = launches[1];
  screen.kernel = compile("patch_match_screen_planes");
  screen.memory = patch_memory(problem);
  screen.memory.push_back(memory);
  finish(screen, problem);
  return launches;
}

std::size_t PatchScreen::norm_bytes(const PatchMatch& problem) noexcept {
  const mathematics::PatchGeometry g(problem);
  return static_cast<std::size_t>(g.x.places * g.y.places * g.z.places + 2 * kNormsAround) * sizeof(cl_float2);
}

std::string PatchScreen::options(const PatchMatch& problem, bool by_norms) const {
  return backend::sentence(by_planes_ ? by_norms ? " -DNORMS=1" : " -DNORMS=0" : "",
                           " -DPATCH=", problem.patch == PerAxis{4, 4, 4} ? 4 : 0, " -DLANES=", tile_.lanes(),
                           " -DROWS=", mathematics::kPatchScreenRows,
                           " -DPLACES=", mathematics::patch_screen_places(problem),
                           " -DSPARE=", mathematics::kPatchScreenSpare, " -DGROUP=", tile_.threads());
}

void PatchScreen::finish(OperatorLaunch& launch, const PatchMatch& problem) const {
  launch.set_structs(patch_shape(problem), shape(problem, problem.references()));
  const auto local = static_cast<cl_uint>(2 * launch.memory.size() + launch.struct_count);
  launch.kernel->set(local, region_bytes(), nullptr);
  launch.range = range(problem.references());
}

PatchScreenShape PatchScreen::shape(const PatchMatch& problem, const PerAxis& references) const {
  const mathematics::PatchScreenBounds bounds(problem);
  PatchScreenShape shape{.tiles = {ceil_div(references.x, tile_.tile(0)), ceil_div(references.y, tile_.tile(1))},
                         .lanes = {},
                         .region = {},
                         .row = static_cast<cl_int>(tile_.row()),
                         .plane = static_cast<cl_int>(tile_.plane()),
                         .number_mask = bounds.number_mask,
                         .most = bounds.most,
                         .part = bounds.part,
                         .underflow = bounds.underflow};
  for (int axis = 0; axis < 3; ++axis) {
    shape.lanes[axis] = static_cast<cl_int>(tile_.tile(axis));
    shape.region[axis] = static_cast<cl_int>(tile_.region(axis));
  }
  return shape;
}

NdRange PatchScreen::range(const PerAxis& references) const {
  const auto group = static_cast<std::size_t>(tile_.threads());
  return {1, {static_cast<std::size_t>(tile_.tiles(references)) * group, 1, 1}, {group, 1, 1}};
}

}  // namespace tessera::opencl
