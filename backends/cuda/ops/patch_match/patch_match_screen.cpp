// Tiles of patch_match_screen.cu, and its launch.
#include "ops/patch_match/patch_match_screen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"

namespace tessera::cuda {

namespace {

using mathematics::PatchScreenTile;

PatchScreenTile tile_of(const PatchMatch& problem, std::int64_t tile_y) noexcept {
  return {problem, tile_y, sizeof(float), false};
}

CudaFunction function_of(const std::shared_ptr<Context>& context, const PatchMatch& problem, int lanes) {
  const std::string name = backend::sentence("tessera_patch_match_screen_", patch_types(problem), "_",
                                             problem.patch == PerAxis{4, 4, 4} ? 4 : 0, "_", lanes, "_",
                                             mathematics::patch_screen_places(problem));
  context->make_current();
  check(context->api().cuFuncSetAttribute(context->function(embedded::patch_match_screen, name),
                                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          static_cast<int>(context->limits().shared_bytes)),
        "allowing a kernel all of the shared memory");
  return {context, embedded::patch_match_screen, name, LaunchGrid()};
}

}  // namespace

std::vector<std::int64_t> screen_lines(const PatchMatch& problem, const DeviceLimits& limits) {
  std::vector<std::int64_t> lines;
  if (!mathematics::is_screened(problem)) return lines;
  for (const std::int64_t tile_y : {4, 6, 8, 12, 16}) {
    const PatchScreenTile tile = tile_of(problem, tile_y);
    if (tile_y <= screen_most_warps(mathematics::patch_screen_places(problem)) &&
        tile.bytes() <= static_cast<std::int64_t>(limits.shared_bytes) &&
        tile.tiles(problem.references()) <= static_cast<double>(limits.groups[0])) {
      lines.push_back(tile_y);
    }
  }
  if (!lines.empty()) lines.insert(lines.begin(), 0);
  return lines;
}

std::int64_t best_screen_lines(const PatchMatch& problem, const DeviceLimits& limits) {
  constexpr std::int64_t kEnoughWarps = 12;  // of a multiprocessor: more hardly make it faster
  constexpr std::int64_t kLeastWarps = 8;    // that find room, or the general kernel is faster
  std::int64_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t tile_y : screen_lines(problem, limits)) {
    if (tile_y == 0) continue;
    const PatchScreenTile tile = tile_of(problem, tile_y);
    const std::int64_t bytes = tile.bytes() + static_cast<std::int64_t>(kReservedSharedBytes);
    const std::int64_t room = static_cast<std::int64_t>(limits.multiprocessor_shared_bytes) / bytes;
    if (room * tile_y < kLeastWarps) continue;
    // Rounds of groups, each as long as a multiprocessor takes for those that it has at a time.
    const double of_each = std::ceil(tile.tiles(problem.references()) / static_cast<double>(limits.multiprocessors));
    const double at_a_time = std::min(of_each, static_cast<double>(room));
    const double warps = at_a_time * static_cast<double>(tile_y);
    const double time = std::ceil(of_each / at_a_time) * std::max(warps / static_cast<double>(kEnoughWarps), 1.0);
    if (time < least) {
      least = time;
      best = tile_y;
    }
  }
  return best;
}

ScreenMatch::ScreenMatch(const std::shared_ptr<Context>& context, const PatchMatch& problem, std::int64_t tile_y)
    : tile_(tile_of(problem, tile_y)),
      function_(function_of(context, problem, tile_.lanes())),
      places_(patch_arguments(problem).places[0] * patch_arguments(problem).places[1] *
              patch_arguments(problem).places[2]) {
  const mathematics::PatchScreenBounds bounds(problem);
  for (int axis = 0; axis < 3; ++axis) {
    arguments_.lanes[axis] = static_cast<std::int32_t>(tile_.tile(axis));
    arguments_.region[axis] = static_cast<std::int32_t>(tile_.region(axis));
  }
  arguments_.row = static_cast<std::int32_t>(tile_.row());
  arguments_.plane = static_cast<std::int32_t>(tile_.plane());
  arguments_.number_mask = bounds.number_mask;
  arguments_.most = bounds.most;
  arguments_.part = bounds.part;
  arguments_.underflow = bounds.underflow;
  if (problem.patch != PerAxis{kScreenNormPatch, kScreenNormPatch, kScreenNormPatch}) return;
  const PatchArguments match = patch_arguments(problem);
  const std::int64_t runs = mathematics::ceil_div<std::int64_t>(match.places[2], kScreenNormRun);
  norms_.emplace(context, embedded::patch_match_screen,
                 backend::sentence("tessera_patch_match_screen_norms_", patch_types(problem)),
                 patch_line(match.places[0] * match.places[1] * runs));
}

std::size_t ScreenMatch::workspace_bytes() const noexcept {
  if (!norms_) return 0;
  return static_cast<std::size_t>(places_ + 2 * kScreenNormsAround) * sizeof(PatchScreenNorm);
}

PatchScreenArguments ScreenMatch::with_memory(const PatchArguments& match, const backend::Slice& workspace) const {
  PatchScreenArguments arguments = arguments_;
  arguments.match = match;
  arguments.norms = norms_ ? pointer_to<PatchScreenNorm>(workspace) + kScreenNormsAround : nullptr;
  return arguments;
}

void ScreenMatch::prepare(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const {
  PatchScreenArguments arguments = with_memory(match, workspace);
  if (norms_) norms_->enqueue(queue, arguments);
}

void ScreenMatch::run(backend::Queue& queue, const PatchArguments& match, const backend::Slice& workspace) const {
  PatchScreenArguments arguments = with_memory(match, workspace);
  LaunchGrid grid;
  grid.groups[0] = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t tiles = mathematics::ceil_div(match.references[axis], tile_.tile(axis));
    if (axis < 2) arguments.tiles[axis] = tiles;
    grid.groups[0] *= static_cast<unsigned>(tiles);
  }
  grid.group_size[0] = static_cast<unsigned>(tile_.threads());
  grid.dynamic_shared_bytes = static_cast<unsigned>(tile_.bytes());
  function_.enqueue(queue, arguments, grid);
}

}  // namespace tessera::cuda
