// patch_match, box_sums: one group a tile of references, which share sums. See patch_match_box_sums.cu, and for a
// reference at every place patch_match_box_bytes.cu, and of floats and 16 bits patch_match_box_halves.cu.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "mathematics/patch_match_box_choice.h"
#include "mathematics/patch_match_box_dense.h"
#include "mathematics/patch_match_box_tiles.h"
#include "ops/patch_match/patch_match_box_arguments.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using mathematics::PatchBoxTiles;

PatchBoxTiles tiles_of(const PatchMatch& problem, const backend::Device& device) {
  const bool is_narrow = problem.type == DataType::float32 || patch_types(problem) == "uint8";
  return {problem,
          {.most = {kPatchBoxLineThreads * kPatchBoxRun, 8, 8},
           .lanes = kPatchBoxRun,
           .sum_bytes = is_narrow ? 4 : 8,
           .bytes = native(device).context()->limits().shared_bytes}};
}

static_assert(BoxGroup::kMostWindow == mathematics::kPatchDenseWindow);
static_assert(BoxGroup::kPlaces == mathematics::kPatchDensePlaces);
constexpr PerAxis kDenseTile{BoxGroup::kTileX, BoxGroup::kTileY, BoxGroup::kTileZ};

/// The side of windows that patch_match_box_bytes.cu and patch_match_box_halves.cu have a program for, or 0: theirs for
/// any.
int dense_window(const PatchMatch& problem) {
  const mathematics::PatchGeometry g(problem);
  const bool is_cube = g.x.window == g.y.window && g.y.window == g.z.window;
  for (const int side : {5, 7, 9, 11}) {
    if (is_cube && g.x.window == side) return side;
  }
  return 0;
}
/// What the groups of such a program share.
template <template <int> class Box>
unsigned shared_bytes_of(int window) {
  switch (window) {
    case 5: return Box<5>::kSharedBytes;
    case 7: return Box<7>::kSharedBytes;
    case 9: return Box<9>::kSharedBytes;
    case 11: return Box<11>::kSharedBytes;
    default: return Box<0>::kSharedBytes;
  }
}

/// Has patch_match_box_bytes.cu or patch_match_box_halves.cu a program for these patches and windows?
bool has_bytes(const PatchMatch& problem, const backend::Device& device) {
  return problem.type == DataType::uint8 && mathematics::is_patch_dense(problem) &&
         native(device).context()->limits().shared_bytes >= shared_bytes_of<BoxBytes>(dense_window(problem));
}
bool has_halves(const PatchMatch& problem, const backend::Device& device) {
  constexpr int kFirstWithHalves = 8;  // sm_80 and newer multiply 16 x 16 by 16 x 8 of fp16
  const DeviceLimits& limits = native(device).context()->limits();
  return problem.type != DataType::uint8 && mathematics::is_patch_dense(problem) &&
         limits.shared_bytes >= shared_bytes_of<BoxHalves>(dense_window(problem)) &&
         limits.compute_capability_major >= kFirstWithHalves;
}

PerAxis dense_tiles(const PatchMatch& problem) {
  return mathematics::patch_dense_tiles(problem, kDenseTile);
}

LaunchGrid grid_of(double groups, int threads, double shared_bytes) {
  LaunchGrid grid;
  grid.groups[0] = static_cast<unsigned>(groups);
  grid.group_size[0] = static_cast<unsigned>(threads);
  grid.dynamic_shared_bytes = static_cast<unsigned>(shared_bytes);
  return grid;
}

/// A launch whose groups may have more shared memory than the driver gives unasked.
class BoxKernel : public CudaKernel {
 protected:
  BoxKernel(const std::shared_ptr<Context>& context, const Image& image, const std::string& function,
            const LaunchGrid& grid)
      : CudaKernel(context, image, function, grid) {
    context->make_current();
    check(context->api().cuFuncSetAttribute(context->function(image, function),
                                            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(context->limits().shared_bytes)),
          "allowing a kernel all of the shared memory");
  }
};

class BoxSumsKernel final : public BoxKernel {
 public:
  BoxSumsKernel(const PatchMatch& problem, const backend::Device& device, const PatchBoxTiles& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_sums,
                  sentence("tessera_patch_match_box_sums_", patch_types(problem), "_",
                           problem.patch == PerAxis{4, 4, 4} ? 4 : 0),
                  grid_of(tiles.tiles(), kPatchBoxThreads, tiles.bytes())),
        arguments_{.match = patch_arguments(problem),
                   .tiles = {tiles.count(0), tiles.count(1)},
                   .columns = static_cast<std::int32_t>(tiles.most(0)),
                   .most_y = static_cast<std::int32_t>(tiles.most(1)),
                   .most_z = static_cast<std::int32_t>(tiles.most(2)),
                   .rows = static_cast<std::int32_t>(tiles.rows()),
                   .planes = static_cast<std::int32_t>(tiles.planes())} {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands, const backend::Slice&) override {
    PatchTileArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    enqueue(queue, arguments);
  }

 private:
  PatchTileArguments arguments_;
};

class BoxBytesKernel final : public BoxKernel {
 public:
  BoxBytesKernel(const PatchMatch& problem, const backend::Device& device, const PerAxis& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_bytes,
                  sentence("tessera_patch_match_box_bytes_", dense_window(problem)),
                  grid_of(static_cast<double>(tiles.product()), BoxGroup::kThreads,
                          shared_bytes_of<BoxBytes>(dense_window(problem)))),
        arguments_(arguments(problem, tiles)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands, const backend::Slice&) override {
    PatchBoxArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    enqueue(queue, arguments);
  }

 private:
  static PatchBoxArguments arguments(const PatchMatch& problem, const PerAxis& tiles) {
    const PatchArguments match = patch_arguments(problem);
    const std::int64_t largest = std::min(match.largest, mathematics::largest_patch_distance(problem));
    return {.match = match,
            .tiles = {static_cast<std::uint32_t>(tiles.x), static_cast<std::uint32_t>(tiles.y)},
            .most_distance = static_cast<std::int32_t>(largest)};
  }

  PatchBoxArguments arguments_;
};

class BoxHalvesKernel final : public BoxKernel {
 public:
  BoxHalvesKernel(const PatchMatch& problem, const backend::Device& device, const PerAxis& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_halves,
                  sentence("tessera_patch_match_box_halves_", patch_types(problem), "_", dense_window(problem)),
                  grid_of(static_cast<double>(tiles.product()), BoxGroup::kThreads,
                          shared_bytes_of<BoxHalves>(dense_window(problem)))),
        arguments_{.match = patch_arguments(problem),
                   .tiles = {static_cast<std::uint32_t>(tiles.x), static_cast<std::uint32_t>(tiles.y)}} {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands, const backend::Slice&) override {
    PatchBoxArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    enqueue(queue, arguments);
  }

 private:
  PatchBoxArguments arguments_;
};

backend::Verdict check_box_sums(const PatchMatch& problem, const backend::Device& device) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty()) {
    return backend::Verdict::no(std::move(reason));
  }
  if (has_bytes(problem, device) || has_halves(problem, device)) {
    return check_patch_groups(dense_tiles(problem).product(), device);
  }
  const PatchBoxTiles tiles = tiles_of(problem, device);
  if (tiles.is_too_large()) {
    return backend::Verdict::no(sentence("a tile of patch_match takes ", tiles.bytes(),
                                         " bytes of shared memory, but a group has ",
                                         native(device).context()->limits().shared_bytes));
  }
  constexpr double kMost = 0x1p62;
  return check_patch_groups(static_cast<std::int64_t>(std::min(tiles.tiles(), kMost)), device);
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  if (!has_bytes(problem, device) && !has_halves(problem, device)) {
    return backend::Verdict::no(
        "packed_key is faster, but for up to 16 patches of 4 x 4 x 4 at every place, with windows of up to 11");
  }
  // Two groups at least share a multiprocessor.
  const std::int64_t multiprocessors = native(device).context()->limits().multiprocessors;
  std::string reason =
      mathematics::why_patch_box_does_not_pay(problem, {kDenseTile, 2 * multiprocessors, multiprocessors});
  return reason.empty() ? backend::Verdict::yes() : backend::Verdict::no(std::move(reason));
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning&) {
  if (has_bytes(problem, device)) return std::make_unique<BoxBytesKernel>(problem, device, dense_tiles(problem));
  if (has_halves(problem, device)) return std::make_unique<BoxHalvesKernel>(problem, device, dense_tiles(problem));
  return std::make_unique<BoxSumsKernel>(problem, device, tiles_of(problem, device));
}

}  // namespace

backend::Variant<PatchMatch> patch_match_box_sums() {
  return {.name = "box_sums",
          .summary = "one group a tile of references, one offset after the other, sums that neighbours share",
          .check = check_box_sums,
          .tunables = nullptr,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::cuda
