// The variant "box_sums": references in tiles, which look at one offset after the other. At each of them the squares of
// differences are summed along the axes, so that neighbours share what they have in common; the picture is in
// patch_match_box_kernel.cpp. Pays where references stand close: a place without one costs nearly what a reference
// does.
//
//     tile of references, and the voxels that they and their candidates reach, converted to the type of the sums
//     +--------------------------+
//     |   +----------------+     |     For float, and bytes whose sums are exact in it, that is float, else double.
//     |   | r r r r r r r  |     |     A thread holds one tile: what it takes does not depend on the volume.
//     |   +----------------+     |
//     +--------------------------+
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/patch_match/patch_match_box_kernel.h"
#include "ops/patch_match/patch_match_box_tile.h"
#include "ops/patch_match/patch_match_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Memory of one thread beyond which a window is too large.
constexpr double kMostTileBytes = 64 << 20;
/// The step up to which it is faster than "packed_key": of 88 x 60 x 38 bytes with patch 4, window 11 and 16 places, on
/// two threads of an AMD EPYC with AVX-512, 322 ms and 436 at step 1, 100 ms and 19 at step 3.
constexpr std::int64_t kLargestStep = 1;

backend::Verdict check(const PatchMatch& problem, const backend::Device& /*device*/) {
  using backend::sentence;
  if (std::string reason = mathematics::why_no_patch_key(problem); !reason.empty())
    return backend::Verdict::no(std::move(reason));
  const double bytes = box_tile_bytes(problem);
  if (bytes > kMostTileBytes)
    return backend::Verdict::no(sentence("a tile of patch_match takes ", bytes, " bytes of a thread's memory, but ",
                                         kMostTileBytes, " are the most"));
  return backend::Verdict::yes();
}

backend::Verdict pays(const PatchMatch& problem, const backend::Device& /*device*/) {
  const std::int64_t largest = std::max({problem.step.x, problem.step.y, problem.step.z});
  if (largest > kLargestStep)
    return backend::Verdict::no(backend::sentence("the largest step of patch_match is ", largest,
                                                  ", but neighbours share sums up to a step of ", kLargestStep));
  return backend::Verdict::yes();
}

template <class Sum, class T>
void match_tiles(Executor& executor, const PatchOperands<T>& match) {
  const BoxTiles tiles(match.problem);
  executor.parallel_for(tiles.count.product(), [&](std::int64_t begin, std::int64_t end) {
    BoxTileMemory<T, Sum> memory(executor.scratch(), match);
    for (std::int64_t tile = begin; tile < end; ++tile) {
      memory.load(tiles.part(tile));
      memory.match();
      memory.write();
    }
  });
}

std::unique_ptr<backend::Kernel> make(const PatchMatch& problem, backend::Device& /*device*/,
                                      const Tuning& /*tuning*/) {
  return make_patch_kernel(problem, []<class T>(Executor& executor, const PatchOperands<T>& match) {
    if constexpr (std::is_same_v<T, float>) {
      match_tiles<float>(executor, match);
    } else {
      sums_are_float(match.problem) ? match_tiles<float>(executor, match) : match_tiles<double>(executor, match);
    }
  });
}

}  // namespace

backend::Variant<PatchMatch> patch_match_box_sums() {
  return {.name = "box_sums",
          .summary = "one offset after the other, box sums of squared differences that neighbours share",
          .check = check,
          .tunables = nullptr,
          .make = make,
          .pays = pays};
}

}  // namespace tessera::cpu_tbb
