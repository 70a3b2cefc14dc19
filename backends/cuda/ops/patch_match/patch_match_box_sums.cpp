// patch_match, box_sums: one group a tile of references, which share sums. See patch_match_box_sums.cu, and for a
// reference at every place patch_match_box_bytes.cu, and of floats and 16 bits patch_match_box_halves.cu.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
#include "mathematics/patch_match_box_tiles.h"
#include "ops/patch_match/patch_match_box_arguments.h"
#include "ops/patch_match/patch_match_launch.h"
#include "ops/patch_match/patch_match_packed_key.h"
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

/// Has patch_match_box_bytes.cu or patch_match_box_halves.cu a program for these patches and windows?
bool is_dense(const PatchMatch& problem) {
  const mathematics::PatchGeometry g(problem);
  return problem.patch == PerAxis{4, 4, 4} && problem.step == PerAxis{1, 1, 1} &&
         std::max({g.x.window, g.y.window, g.z.window}) <= BoxBytes::kMostWindow &&
         problem.max_patches <= BoxBytes::kPlaces;
}
bool has_bytes(const PatchMatch& problem, const backend::Device& device) {
  return problem.type == DataType::uint8 && is_dense(problem) &&
         native(device).context()->limits().shared_bytes >= BoxBytes::kSharedBytes;
}
bool has_halves(const PatchMatch& problem, const backend::Device& device) {
  constexpr int kFirstWithHalves = 8;  // sm_80 and newer multiply 16 x 16 by 16 x 8 of fp16
  const DeviceLimits& limits = native(device).context()->limits();
  return problem.type != DataType::uint8 && is_dense(problem) && limits.shared_bytes >= BoxHalves::kSharedBytes &&
         limits.compute_capability_major >= kFirstWithHalves;
}
/// Are windows as large as that of its kernel whose loops are made for them?
bool is_whole(const PatchMatch& problem) {
  const mathematics::PatchGeometry g(problem);
  return std::min({g.x.window, g.y.window, g.z.window}) == BoxBytes::kMostWindow;
}

PerAxis dense_tiles(const PatchMatch& problem) {
  using mathematics::ceil_div;
  const PerAxis references = problem.references();
  return {ceil_div<std::int64_t>(references.x, BoxBytes::kTileX),
          ceil_div<std::int64_t>(references.y, BoxBytes::kTileY),
          ceil_div<std::int64_t>(references.z, BoxBytes::kTileZ)};
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

/// Where farther candidates than its keys hold may be kept, a second launch finds the stacks that did not fill up: that
/// of packed_key, whose words and norms lie in the workspace.
class BoxBytesKernel final : public BoxKernel {
 public:
  BoxBytesKernel(const PatchMatch& problem, const backend::Device& device, const PerAxis& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_bytes,
                  sentence("tessera_patch_match_box_bytes_", is_whole(problem) ? "whole" : "part"),
                  grid_of(static_cast<double>(tiles.product()), BoxBytes::kThreads, BoxBytes::kSharedBytes)),
        arguments_(arguments(problem, tiles)) {
    if (arguments_.leaves_rest != 0) rest_ = std::make_unique<PackedKeyMatch>(native(device).context(), problem);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return rest_ ? rest_->workspace_bytes() : 0; }
  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    PatchBoxArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    enqueue(queue, arguments);
    if (!rest_) return;
    rest_->prepare(queue, arguments.match, workspace);
    rest_->run_second(queue, arguments.match, workspace);
  }

 private:
  static PatchBoxArguments arguments(const PatchMatch& problem, const PerAxis& tiles) {
    const PatchArguments match = patch_arguments(problem);
    const std::int64_t largest = std::min(match.largest, mathematics::largest_patch_distance(problem));
    return {.match = match,
            .tiles = {static_cast<std::uint32_t>(tiles.x), static_cast<std::uint32_t>(tiles.y)},
            .most_distance = static_cast<std::int32_t>(std::min<std::int64_t>(largest, BoxBytes::kMostDistance)),
            .leaves_rest = largest > BoxBytes::kMostDistance ? 1 : 0};
  }

  PatchBoxArguments arguments_;
  std::unique_ptr<PackedKeyMatch> rest_;
};

class BoxHalvesKernel final : public BoxKernel {
 public:
  BoxHalvesKernel(const PatchMatch& problem, const backend::Device& device, const PerAxis& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_halves,
                  sentence("tessera_patch_match_box_halves_", patch_types(problem), "_",
                           is_whole(problem) ? "whole" : "part"),
                  grid_of(static_cast<double>(tiles.product()), BoxBytes::kThreads, BoxHalves::kSharedBytes)),
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
  if (has_bytes(problem, device)) {
    const backend::Verdict groups = check_patch_groups(dense_tiles(problem).product(), device);
    return groups ? check_packed_key(problem, device) : groups;
  }
  if (has_halves(problem, device)) return check_patch_groups(dense_tiles(problem).product(), device);
  const PatchBoxTiles tiles = tiles_of(problem, device);
  if (tiles.is_too_large()) {
    return backend::Verdict::no(sentence("a tile of patch_match takes ", tiles.bytes(),
                                         " bytes of shared memory, but a group has ",
                                         native(device).context()->limits().shared_bytes));
  }
  constexpr double kMost = 0x1p62;
  return check_patch_groups(static_cast<std::int64_t>(std::min(tiles.tiles(), kMost)), device);
}

/// Candidates of all references along an axis, of which those near its ends have fewer.
std::int64_t pairs_along(const mathematics::PatchAxis& axis) {
  std::int64_t pairs = axis.references * axis.window;
  for (std::int64_t i = 0; i < axis.references; ++i) {
    if (i == BoxBytes::kMostWindow) i = std::max(i, axis.references - BoxBytes::kMostWindow);
    const std::int64_t place = axis.place(i);
    pairs -= axis.window - (axis.end_of_candidates(place) - axis.first_candidate(place));
  }
  return pairs;
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& device) {
  // Where a stack of bytes has up to 4 places, packed_key has a program that is faster than its others.
  constexpr std::int64_t kFewPlaces = 4;
  const bool is_of_bytes = has_bytes(problem, device) && is_whole(problem) && problem.max_patches > kFewPlaces;
  // Of floats an H100 takes 285 us for windows of 5^3, and packed_key 385, 334 and 561 for 7^3 (88 x 60 x 38 voxels).
  constexpr std::int64_t kLeastWindow = 5;
  const mathematics::PatchGeometry g(problem);
  const bool is_of_halves =
      has_halves(problem, device) && std::min({g.x.window, g.y.window, g.z.window}) >= kLeastWindow;
  if (!is_of_bytes && !is_of_halves) {
    return backend::Verdict::no(
        "packed_key is faster, but with patches of 4 x 4 x 4 at every place for 5 to 16 of bytes with windows of 11 x "
        "11 x "
        "11, and for up to 16 of floats and 16 bits with windows of 5 to 11 along each axis");
  }
  // Two groups share a multiprocessor, and the last wave of them costs much where there are few.
  constexpr std::int64_t kLeastWaves = 4;
  const std::int64_t groups = dense_tiles(problem).product();
  const std::int64_t at_once = 2 * std::int64_t{native(device).context()->limits().multiprocessors};
  if (groups < kLeastWaves * at_once) {
    return backend::Verdict::no(
        sentence("patch_match takes ", groups, " groups of 128 references, too few for ", at_once, " at a time"));
  }
  // A group takes as long whatever part of its references and their candidates is there, and packed_key as long as
  // there are pairs. Of 83 % an H100 takes 1.29 ms, and packed_key 2.63 (176 x 120 x 38 bytes and a threshold): of half
  // it is still ahead. Smaller windows gain less.
  const std::int64_t least_percent = is_whole(problem) ? 50 : 75;
  const double window = static_cast<double>(g.x.window) * static_cast<double>(g.y.window * g.z.window);
  const double all = static_cast<double>(groups) * BoxBytes::kTileX * BoxBytes::kTileY * BoxBytes::kTileZ * window;
  const double pairs = static_cast<double>(pairs_along(g.x)) * static_cast<double>(pairs_along(g.y)) *
                       static_cast<double>(pairs_along(g.z));
  if (100 * pairs >= static_cast<double>(least_percent) * all) return backend::Verdict::yes();
  return backend::Verdict::no(sentence("of the pairs that groups of patch_match look at, ",
                                       static_cast<std::int64_t>(100 * pairs / all), " % are there, but ",
                                       least_percent, " must be"));
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
