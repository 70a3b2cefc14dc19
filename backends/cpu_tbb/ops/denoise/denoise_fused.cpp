// The variant "fused": a tile of references at a time, from matching to sums, in one thread's memory.
//
//   tile of references   stacks by length   batches of 16      sums of the tile        sums of the slab
//   r r r r r r          1: r r             |r r r r ... r|    +-----------------+     +---------------------+
//   r r r r r r   --->   ...         --->   |r r r r ... r| -> | what the tile's | --> | one thread at a     |
//   match                16: r r r r r r r  filter_batch()     | windows reach   |     | time adds its rows  |
//                                                              +-----------------+     +---------------------+
//
// Stacks wait until sixteen of one length are there, so that lanes are rarely idle; what is left over at a tile's end
// runs with some of them empty. Sums are whole numbers: who adds first does not matter.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/denoise/denoise_batch.h"
#include "ops/denoise/denoise_operands.h"
#include "ops/denoise/denoise_variants.h"
#include "ops/patch_match/patch_match_packed_search.h"

namespace tessera::cpu_tbb {

namespace {

/// References of a tile: of an image, and of a volume, whose windows reach further in all.
constexpr PerAxis kImageTile{16, 16, 1};
constexpr PerAxis kVolumeTile{8, 6, 4};
/// Memory of one thread beyond which windows or stacks are too large.
constexpr double kMostTileBytes = 64 << 20;
/// Lengths of stacks: 1, 2, 4 ... 64.
constexpr std::size_t kLengths = std::bit_width(static_cast<std::uint64_t>(PatchMatch::kMostPatches));

/// Tiles of a box of references.
struct DenoiseTiles {
  DenoiseTiles(const DenoiseStepPlan& plan, const ReferenceBox& box) noexcept : all(box) {
    const PerAxis usual = plan.geometry.z.references > 1 ? kVolumeTile : kImageTile;
    const PerAxis references = box.count();
    most = {std::min(usual.x, references.x), std::min(usual.y, references.y), std::min(usual.z, references.z)};
    count = {mathematics::ceil_div(references.x, most.x), mathematics::ceil_div(references.y, most.y),
             mathematics::ceil_div(references.z, most.z)};
  }
  [[nodiscard]] ReferenceBox part(std::int64_t tile) const noexcept {
    const PerAxis first{all.first.x + tile % count.x * most.x, all.first.y + tile / count.x % count.y * most.y,
                        all.first.z + tile / count.x / count.y * most.z};
    return {first,
            {std::min(first.x + most.x, all.end.x), std::min(first.y + most.y, all.end.y),
             std::min(first.z + most.z, all.end.z)}};
  }
  /// The most voxels that a tile reaches along each axis.
  [[nodiscard]] PerAxis reach(const DenoiseStepPlan& plan) const noexcept {
    const auto along = [](const mathematics::PatchAxis& axis, std::int64_t references) {
      return std::min((references - 1) * axis.step + axis.window - 1 + axis.patch, axis.size);
    };
    return {along(plan.geometry.x, most.x), along(plan.geometry.y, most.y), along(plan.geometry.z, most.z)};
  }

  ReferenceBox all;
  PerAxis most;
  PerAxis count;
};

/// Stacks of one length that wait for a batch: members x lanes, as DenoiseBatch has them.
struct WaitingStacks {
  std::int64_t lanes = 0;
  std::vector<std::int64_t> voxels;
  std::vector<std::int64_t> places;
};

/// What one thread works in.
template <class T>
class DenoiseTile {
 public:
  DenoiseTile(ScratchPool& pool, const DenoiseStepPlan& plan, const DenoiseInput<T>& input, const PerAxis& reach)
      : plan_(plan),
        batch_loan_(pool, static_cast<std::size_t>(denoise_batch_bytes(plan.step, input.basic != nullptr))),
        search_loan_(pool, static_cast<std::size_t>(packed_search_bytes(plan.matching))),
        search_(plan.matching, input.match, search_loan_.data()),
        sums_(pool, reach, plan.problem.channels) {
    batch_.input = input;
    batch_.channels = plan.problem.channels;
    batch_.channel_voxels = plan.voxels();
    batch_.row = plan.problem.size.x;
    batch_.plane = plan.problem.size.x * plan.problem.size.y;
    batch_.plan = &plan;
    place_batch(batch_, plan.step, input.basic != nullptr, batch_loan_.data());
    for (std::size_t length = 0; length < kLengths; ++length) {
      waiting_[length].voxels.resize(static_cast<std::size_t>(kBatchLanes) << length);
      waiting_[length].places.resize(static_cast<std::size_t>(kBatchLanes) << length);
    }
  }

  void filter(const ReferenceBox& box, DenoiseSums& slab) {
    const mathematics::PatchGeometry& g = plan_.geometry;
    sums_.start(plan_.reach(box));
    for (std::int64_t k = box.first.z; k < box.end.z; ++k) {
      for (std::int64_t j = box.first.y; j < box.end.y; ++j) {
        for (std::int64_t i = box.first.x; i < box.end.x; ++i) match({g.x.place(i), g.y.place(j), g.z.place(k)});
      }
    }
    for (std::size_t length = 0; length < kLengths; ++length) run(length);
    slab.add(sums_);
  }

 private:
  /// Finds a stack and puts it to those of its length.
  void match(const PerAxis& place) {
    const PatchKeys& keys = search_.keys_of(place);
    if (keys.count() == 0) return;
    const std::size_t length = std::bit_width(static_cast<std::uint64_t>(keys.count())) - 1;
    WaitingStacks& stacks = waiting_[length];
    const PatchCandidates& window = search_.candidates();
    for (std::int64_t member = 0; member < std::int64_t{1} << length; ++member) {
      const PerAxis patch = window.place_of(static_cast<std::int64_t>(keys.number(member)));
      const auto at = static_cast<std::size_t>(member * kBatchLanes + stacks.lanes);
      stacks.voxels[at] = (patch.z * plan_.problem.size.y + patch.y) * plan_.problem.size.x + patch.x;
      stacks.places[at] = sums_.index(patch);
    }
    if (++stacks.lanes == kBatchLanes) run(length);
  }

  /// Filters what waits, in all channels.
  void run(std::size_t length) {
    WaitingStacks& stacks = waiting_[length];
    if (stacks.lanes == 0) return;
    batch_.members = std::int64_t{1} << length;
    batch_.lanes = std::exchange(stacks.lanes, 0);
    for (std::int64_t member = 0; member < batch_.members; ++member) {
      std::int64_t* const of_member = stacks.voxels.data() + member * kBatchLanes;
      std::fill(of_member + batch_.lanes, of_member + kBatchLanes, of_member[0]);
    }
    batch_.voxels = stacks.voxels.data();
    batch_.places = stacks.places.data();
    batch_.sums_row = sums_.row();
    batch_.sums_plane = sums_.plane();
    for (batch_.channel = 0; batch_.channel < batch_.channels; ++batch_.channel) {
      batch_.sums = sums_.channel(batch_.channel);
      filter_batch(batch_);
    }
  }

  const DenoiseStepPlan& plan_;
  DenoiseBatch<T> batch_;
  ScratchPool::Loan batch_loan_;
  ScratchPool::Loan search_loan_;
  PackedSearch<T> search_;
  DenoiseSums sums_;
  std::array<WaitingStacks, kLengths> waiting_;
};

/// Of one thread, for one step.
double tile_bytes(const Denoise& problem, const DenoiseStep& step, bool is_wiener) {
  const DenoiseStepPlan plan(problem, step, 0);
  const PerAxis reach = DenoiseTiles(plan, {{0, 0, 0}, plan.matching.references()}).reach(plan);
  return DenoiseSums::bytes(reach, problem.channels) + packed_search_bytes(plan.matching) +
         denoise_batch_bytes(step, is_wiener);
}

std::string why_not(const Denoise& problem, const DenoiseStep& step, bool is_wiener) {
  if (std::string reason = why_no_packed_search(problem.matching(step)); !reason.empty()) return reason;
  const double bytes = tile_bytes(problem, step, is_wiener);
  if (bytes <= kMostTileBytes) return "";
  return backend::sentence("a tile of denoise takes ", bytes, " bytes of a thread's memory, but ", kMostTileBytes,
                           " are the most");
}

backend::Verdict check(const Denoise& problem, const backend::Device& /*device*/) {
  std::string reason;
  if (problem.has(DenoiseStage::hard_threshold)) reason = why_not(problem, problem.hard, false);
  if (reason.empty() && problem.has(DenoiseStage::wiener)) reason = why_not(problem, problem.wiener, true);
  return reason.empty() ? backend::Verdict::yes() : backend::Verdict::no(std::move(reason));
}

struct FilterTiles {
  template <class T>
  void operator()(Executor& executor, const DenoiseStepPlan& plan, const DenoiseInput<T>& input,
                  const ReferenceBox& box, DenoiseSums& sums) const {
    const DenoiseTiles tiles(plan, box);
    executor.parallel_for(tiles.count.product(), [&](std::int64_t begin, std::int64_t end) {
      DenoiseTile<T> tile(executor.scratch(), plan, input, tiles.reach(plan));
      for (std::int64_t number = begin; number < end; ++number) tile.filter(tiles.part(number), sums);
    });
  }
};

}  // namespace

backend::Variant<Denoise> denoise_fused() {
  return {.name = "fused",
          .summary = "a tile of references from matching to sums, sixteen stacks side by side in a vector's lanes",
          .check = check,
          .tunables = denoise_tunables,
          .make = [](const Denoise& problem, backend::Device&, const Tuning& tuning) {
            return make_denoise_kernel(problem, tuning, FilterTiles());
          }};
}

}  // namespace tessera::cpu_tbb
