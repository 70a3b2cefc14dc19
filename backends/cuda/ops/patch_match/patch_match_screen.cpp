// Tiles of patch_match_screen.cu, and how far its sums may be from distances.
#include "ops/patch_match/patch_match_screen.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"

namespace tessera::cuda {

namespace {

using mathematics::ceil_div;
using mathematics::round_up;

constexpr std::int64_t kWarp = 32;
/// Where the references of a warp do not lie in one line, there are so many of them along x. Planes whose distance is
/// as much modulo the banks of shared memory keep threads of a warp from meeting in one, at equal steps.
constexpr std::int64_t kAlongX = 8;

int places_of(const PatchMatch& problem) {
  return problem.max_patches <= 16 ? 16 : problem.max_patches <= 32 ? 32 : 64;
}

/// Lanes 11 or 8: whichever makes fewer candidates that do not exist.
int lanes_of(const PatchMatch& problem) {
  constexpr std::int64_t kFewer = 8;
  const std::int64_t window = mathematics::PatchGeometry(problem).x.window;
  return round_up(window, kFewer) < round_up<std::int64_t>(window, kScreenMostLanes) ? int{kFewer} : kScreenMostLanes;
}

std::int64_t candidates_of(const PatchMatch& problem) {
  const mathematics::PatchGeometry g(problem);
  constexpr std::int64_t kMost = std::int64_t{1} << kScreenMostNumberBits;
  for (const std::int64_t window : {g.x.window, g.y.window, g.z.window}) {
    if (window > kMost) return kMost + 1;
  }
  return g.x.window * g.y.window * g.z.window;
}

std::string function_name(const PatchMatch& problem, const ScreenTile& tile) {
  return backend::sentence("tessera_patch_match_screen_", patch_types(problem), "_",
                           problem.patch == PerAxis{4, 4, 4} ? 4 : 0, "_", tile.lanes(), "_", places_of(problem));
}

CudaFunction function_of(const std::shared_ptr<Context>& context, const PatchMatch& problem, const ScreenTile& tile) {
  const std::string name = function_name(problem, tile);
  context->make_current();
  check(context->api().cuFuncSetAttribute(context->function(embedded::patch_match_screen, name),
                                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          static_cast<int>(context->limits().shared_bytes)),
        "allowing a kernel all of the shared memory");
  return {context, embedded::patch_match_screen, name, LaunchGrid()};
}

}  // namespace

ScreenTile::ScreenTile(const PatchMatch& problem, std::int64_t tile_y) noexcept : lanes_(lanes_of(problem)) {
  const mathematics::PatchGeometry g(problem);
  const bool is_deep = problem.references().z > 1;
  tile_ = {is_deep ? kAlongX : kWarp, tile_y, is_deep ? kWarp / kAlongX : 1};
  // A row of the last candidates may be compared with none.
  const std::array<std::int64_t, 3> windows{round_up<std::int64_t>(g.x.window, lanes_),
                                            round_up<std::int64_t>(g.y.window, kScreenRows), g.z.window};
  const mathematics::PatchAxis* const axes[] = {&g.x, &g.y, &g.z};
  for (std::size_t i = 0; i < 3; ++i) {
    region_[i] = (tile_[i] - 1) * axes[i]->step + windows[i] + axes[i]->patch - 1;
  }
}

std::int64_t ScreenTile::plane() const noexcept {
  return round_up(region_[0] * region_[1] - kAlongX, kWarp) + kAlongX;
}

std::int64_t ScreenTile::bytes() const noexcept {
  const std::int64_t staged = threads() * lanes_;
  return (plane() * region_[2] + staged) * static_cast<std::int64_t>(sizeof(float));
}

std::vector<std::int64_t> ScreenTile::all(const PatchMatch& problem, const DeviceLimits& limits) {
  if (problem.type == DataType::uint8) return {};
  if (candidates_of(problem) > std::int64_t{1} << kScreenMostNumberBits) return {};
  const mathematics::PatchGeometry g(problem);
  // Longer axes pass any shared memory, and might pass a product of them.
  constexpr std::int64_t kMostAlong = 1 << 12;
  for (const mathematics::PatchAxis* axis : {&g.x, &g.y, &g.z}) {
    if (std::max({axis->patch, axis->step, axis->window}) > kMostAlong) return {};
  }
  std::vector<std::int64_t> lines;
  for (const std::int64_t tile_y : {4, 6, 8, 12, 16}) {
    const ScreenTile tile(problem, tile_y);
    const PerAxis references = problem.references();
    const double tiles = static_cast<double>(ceil_div(references.x, tile.tile(0))) *
                         static_cast<double>(ceil_div(references.y, tile.tile(1))) *
                         static_cast<double>(ceil_div(references.z, tile.tile(2)));
    if (tile_y <= screen_most_warps(places_of(problem)) &&
        tile.bytes() <= static_cast<std::int64_t>(limits.shared_bytes) &&
        tiles <= static_cast<double>(limits.groups[0])) {
      lines.push_back(tile_y);
    }
  }
  return lines;
}

std::int64_t ScreenTile::best(const PatchMatch& problem, const DeviceLimits& limits) {
  constexpr std::int64_t kEnoughWarps = 12;
  constexpr std::int64_t kLeastWarps = 8;
  std::int64_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  const std::int64_t lines = problem.references().y;
  for (const std::int64_t tile_y : all(problem, limits)) {
    const std::int64_t bytes = ScreenTile(problem, tile_y).bytes() + static_cast<std::int64_t>(kReservedSharedBytes);
    const std::int64_t warps = static_cast<std::int64_t>(limits.multiprocessor_shared_bytes) / bytes * tile_y;
    if (warps < kLeastWarps) continue;
    const double work = static_cast<double>(round_up(lines, tile_y)) / static_cast<double>(lines) /
                        static_cast<double>(std::min(warps, kEnoughWarps));
    if (work < least) {
      least = work;
      best = tile_y;
    }
  }
  return best;
}

ScreenMatch::ScreenMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem, std::int64_t tile_y)
    : tile_(problem, tile_y), function_(function_of(context, problem, tile_)) {
  for (int axis = 0; axis < 3; ++axis) {
    arguments_.lanes[axis] = static_cast<std::int32_t>(tile_.tile(axis));
    arguments_.region[axis] = static_cast<std::int32_t>(tile_.region(axis));
  }
  arguments_.row = arguments_.region[0];
  arguments_.plane = static_cast<std::int32_t>(tile_.plane());
  arguments_.number_mask =
      static_cast<std::uint32_t>(std::bit_ceil(static_cast<std::uint64_t>(candidates_of(problem))) - 1);
  // Both are sums of the same rounded differences' squares. A fused chain rounds once for each voxel, and a distance a
  // square and then once for each voxel of a row, each row of a plane and each plane: with u = 2^-24 each is within the
  // share of its roundings times u of the sum of squares, to first order; 1.01 and 4 roundings more bound the rest, up
  // to 2^12 voxels along an axis. Where squares underflow, a rounding adds up to 2^-150 to each.
  const auto voxels = static_cast<double>(problem.patch.product());
  const auto depth = static_cast<double>(problem.patch.x + problem.patch.y + problem.patch.z);
  const double off = std::min(1.01 * (voxels + depth + 4) * 0x1p-24, 1.0);
  const double underflow = problem.type == DataType::float32 ? voxels * 0x1p-148 : 0;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  arguments_.part = std::nextafter(static_cast<float>(1 - off), 0.0F);
  arguments_.underflow = static_cast<float>(underflow);
  const PatchArguments match = patch_arguments(problem);
  const double unkept = problem.type == DataType::float32 ? static_cast<double>(match.first_unkept_float)
                                                          : static_cast<double>(match.largest) + 1;
  const double most = (unkept + underflow) / static_cast<double>(arguments_.part) * (1 + 0x1p-20);
  arguments_.most = unkept <= 0 ? -1.0F
                    : most < static_cast<double>(std::numeric_limits<float>::max())
                        ? std::nextafter(static_cast<float>(most), kInfinity)
                        : kInfinity;
}

void ScreenMatch::run(backend::Queue& queue, const PatchArguments& match) const {
  PatchScreenArguments arguments = arguments_;
  arguments.match = match;
  LaunchGrid grid;
  grid.groups[0] = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t tiles = ceil_div(match.references[axis], tile_.tile(axis));
    if (axis < 2) arguments.tiles[axis] = tiles;
    grid.groups[0] *= static_cast<unsigned>(tiles);
  }
  grid.group_size[0] = static_cast<unsigned>(tile_.threads());
  grid.dynamic_shared_bytes = static_cast<unsigned>(tile_.bytes());
  function_.enqueue(queue, arguments, grid);
}

}  // namespace tessera::cuda
