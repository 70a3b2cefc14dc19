// patch_match, box_sums on NVIDIA's tensor cores: see patch_match_box_bytes.cl, and of floats and 16 bits
// patch_match_box_halves.cl.
#include "ops/patch_match/patch_match_box_tensor.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/patch_match_box_choice.h"
#include "mathematics/patch_match_box_dense.h"
#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// Of patch_match_box_unit.cl: references along each axis, and work-items.
constexpr std::int64_t kTileSide = 4;
constexpr PerAxis kTile{kTileSide, kTileSide, kTileSide};
constexpr std::size_t kItems = 128;
/// So that five groups share a multiprocessor, and of floats four: those would take 149. Driver 580 takes it of kernels
/// alone that do not say how large their groups are.
constexpr std::string_view kRegisters = " -cl-nv-maxrregcount=128";
constexpr std::string_view kRegistersOfBytes = " -cl-nv-maxrregcount=96";
/// Local memory of a group.
constexpr std::uint64_t kLocalBytes = 49152;

/// Box of patch_match_box_unit.cl.
struct BoxShape {
  cl_int tiles[2];
  cl_int most_distance;
};
static_assert(sizeof(BoxShape) == 12, "patch_match_box_unit.cl says so too");

BoxShape box_shape(const PatchMatch& problem) {
  const PerAxis tiles = mathematics::patch_dense_tiles(problem, kTile);
  BoxShape shape{};
  shape.tiles[0] = static_cast<cl_int>(tiles.x);
  shape.tiles[1] = static_cast<cl_int>(tiles.y);
  if (problem.type != DataType::uint8) return shape;
  const std::int64_t largest =
      std::min(mathematics::largest_kept_distance<std::int64_t>(problem), mathematics::largest_patch_distance(problem));
  shape.most_distance = static_cast<cl_int>(largest);
  return shape;
}

}  // namespace

bool has_patch_box_tensor(const PatchMatch& problem, const DeviceFacts& facts) {
  return facts.has_tensor_cores && mathematics::is_patch_dense(problem) &&
         facts.info.local_memory_bytes >= kLocalBytes && facts.info.max_group_size >= kItems;
}

Verdict check_patch_box_tensor(const PatchMatch& problem) {
  return check_groups("patch_match",
                      static_cast<std::uint64_t>(mathematics::patch_dense_tiles(problem, kTile).product()));
}

Verdict patch_box_tensor_pays(const PatchMatch& problem, const DeviceFacts& facts) {
  // Four groups at least share a multiprocessor.
  const auto multiprocessors = static_cast<std::int64_t>(facts.info.compute_units);
  std::string reason = mathematics::why_patch_box_does_not_pay(problem, {kTile, 4 * multiprocessors, multiprocessors});
  return reason.empty() ? Verdict::yes() : Verdict::no(std::move(reason));
}

std::unique_ptr<backend::Kernel> make_patch_box_tensor(const PatchMatch& problem, const OpenclDevice& device) {
  const BoxShape shape = box_shape(problem);
  const mathematics::PatchGeometry g(problem);
  const bool is_of_bytes = problem.type == DataType::uint8;
  OperatorLaunch launch =
      patch_launch(problem, device, is_of_bytes ? "patch_match_box_bytes" : "patch_match_box_halves",
                   is_of_bytes ? embedded::patch_match_box_bytes : embedded::patch_match_box_halves,
                   sentence(" -DWINDOW_X=", g.x.window, " -DWINDOW_Y=", g.y.window, " -DWINDOW_Z=", g.z.window,
                            is_of_bytes ? kRegistersOfBytes : kRegisters));
  launch.set_structs(patch_shape(problem), shape);
  const auto groups = static_cast<std::size_t>(mathematics::patch_dense_tiles(problem, kTile).product());
  launch.range = {1, {groups * kItems, 1, 1}, {kItems, 1, 1}};
  std::vector<OperatorLaunch> launches;
  launches.push_back(std::move(launch));
  return std::make_unique<OpenclKernel>(std::move(launches));
}

}  // namespace tessera::opencl
