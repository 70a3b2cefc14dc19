// patch_match, box_sums: one group a tile of references, which share sums. See patch_match_box_sums.cu, and for bytes
// patch_match_box_bytes.cu.
#include <algorithm>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "cuda_error.h"
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

/// Is it a problem of patch_match_box_bytes.cu?
bool has_bytes(const PatchMatch& problem, const backend::Device& device) {
  const mathematics::PatchGeometry g(problem);
  return problem.type == DataType::uint8 && problem.patch == PerAxis{4, 4, 4} && problem.step == PerAxis{1, 1, 1} &&
         g.x.window == BoxBytes::kWindowX && g.y.window <= BoxBytes::kMostWindow &&
         g.z.window <= BoxBytes::kMostWindow && problem.max_patches <= BoxBytes::kPlaces &&
         mathematics::patch_key_is_short(problem) &&
         native(device).context()->limits().shared_bytes >= BoxBytes::kSharedBytes;
}

PerAxis byte_tiles(const PatchMatch& problem) {
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

class BoxBytesKernel final : public BoxKernel {
 public:
  BoxBytesKernel(const PatchMatch& problem, const backend::Device& device, const PerAxis& tiles)
      : BoxKernel(native(device).context(), embedded::patch_match_box_bytes, "tessera_patch_match_box_bytes",
                  grid_of(static_cast<double>(tiles.product()), BoxBytes::kThreads, BoxBytes::kSharedBytes)),
        arguments_(arguments(problem, tiles)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands, const backend::Slice&) override {
    PatchBoxArguments arguments = arguments_;
    arguments.match = with_operands(arguments_.match, operands);
    enqueue(queue, arguments);
  }

 private:
  static PatchBoxArguments arguments(const PatchMatch& problem, const PerAxis& tiles) {
    const PatchArguments match = patch_arguments(problem);
    return {.match = match,
            .tiles = {tiles.x, tiles.y, tiles.z},
            .first_unkept = static_cast<std::int32_t>(std::min<std::int64_t>(match.largest + 1, BoxBytes::kNoNorm / 2)),
            .number_scale = 1U << static_cast<unsigned>(match.number_bits)};
  }

  PatchBoxArguments arguments_;
};

backend::Verdict check_box_sums(const PatchMatch& problem, const backend::Device& device) {
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty()) {
    return backend::Verdict::no(std::move(reason));
  }
  if (has_bytes(problem, device)) return check_patch_groups(byte_tiles(problem).product(), device);
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
  if (!has_bytes(problem, device)) {
    return backend::Verdict::no("packed_key is faster, but for bytes with patches of 4 x 4 x 4 at every place");
  }
  // A group is large, so that the last wave of them costs much where there are few.
  constexpr std::int64_t kLeastWaves = 4;
  const std::int64_t groups = byte_tiles(problem).product();
  const std::int64_t at_once = native(device).context()->limits().multiprocessors;
  if (groups >= kLeastWaves * at_once) return backend::Verdict::yes();
  return backend::Verdict::no(
      sentence("patch_match takes ", groups, " groups of 2048 references, too few for ", at_once, " multiprocessors"));
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& device, const Tuning&) {
  if (has_bytes(problem, device)) return std::make_unique<BoxBytesKernel>(problem, device, byte_tiles(problem));
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
