// The largest pieces that fit, along the axis and on as many sets of buffers as let them repeat the least of each
// other.
#include "denoise_cut.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../boundary.h"
#include "../core_of.h"
#include "../stream_memory.h"
#include "backend/sentence.h"
#include "denoise_check.h"
#include "per_axis.h"

namespace tessera::detail {
namespace {

using backend::sentence;

/// A cut must compute so much less than one before it in the order of choice. Along a slower axis pieces lie in longer
/// stretches of memory; on two sets of buffers they are copied while others are computed, but are half as large.
constexpr double kWorthAnotherCut = 0.9;

class DenoiseCutter {
 public:
  DenoiseCutter(const Device& device, const Denoise& problem, const StreamOptions& options)
      : device_(device), problem_(problem), kernel_(options.kernel), limit_(*device.core(), options) {
    // The one that is chosen for all of it, whatever a piece's own choice would be. Tuning values depend on the size.
    kernel_.variant = device.kernel(problem, kernel_).info().variant;
  }

  [[nodiscard]] DenoiseCut cut() const {
    DenoiseCut whole = all_at_once();
    if (limit_.holds(need_of(whole))) return with_memory(std::move(whole));
    std::optional<DenoiseCut> best;
    double work_of_best = 0;
    for (const std::int64_t sets : {2, 1}) {
      for (const auto axis : {&PerAxis::z, &PerAxis::y, &PerAxis::x}) {
        const auto cut_into = [&](std::int64_t own) { return cut_along(axis, own, sets); };
        const std::int64_t planes = largest_that_fits(
            1, problem_.size.*axis, 1, [&](std::int64_t own) { return limit_.holds(need_of(cut_into(own))); });
        if (planes == 0) continue;
        DenoiseCut cut = cut_into(planes);
        const double work = work_of(cut);
        if (best && work > work_of_best * kWorthAnotherCut) continue;
        best = std::move(cut);
        work_of_best = work;
      }
    }
    if (best) return with_memory(*std::move(best));
    throw refusal();
  }

 private:
  [[nodiscard]] DenoiseCut all_at_once() const {
    return cut_of({DenoisePieces(problem_, &PerAxis::z, problem_.size.z)}, 1);
  }
  /// A pass for each step; a copy, as it is with a sigma of 0, takes one.
  [[nodiscard]] DenoiseCut cut_along(std::int64_t PerAxis::*axis, std::int64_t own, std::int64_t sets) const {
    std::vector<DenoisePieces> passes;
    Denoise step = problem_;
    for (const DenoiseStage stage : {DenoiseStage::hard_threshold, DenoiseStage::wiener}) {
      if (!problem_.has(stage) || (problem_.sigma == 0 && !passes.empty())) continue;
      step.stage = stage;
      passes.emplace_back(step, axis, own);
    }
    return cut_of(std::move(passes), sets);
  }
  [[nodiscard]] DenoiseCut cut_of(std::vector<DenoisePieces> passes, std::int64_t sets) const {
    DenoiseCut cut;
    cut.problem = problem_;
    cut.kernel = kernel_;
    for (const DenoisePieces& pieces : passes) {
      const std::int64_t voxels = problem_.size.product() / pieces.planes() * pieces.most_held() * problem_.channels;
      cut.voxels = std::max(cut.voxels, voxels);
      if (pieces.whole().stage == DenoiseStage::wiener) cut.basic_voxels = voxels;
      if (pieces.count() > 1) cut.sets = sets;
    }
    const auto voxels = static_cast<std::uint64_t>(problem_.size.product() * problem_.channels);
    if (passes.size() > 1) cut.plan.host_bytes = voxels * size_bytes(problem_.type);
    cut.plan.passes = std::move(passes);
    cut.plan.copies_overlap = cut.sets > 1;
    return cut;
  }

  [[nodiscard]] StreamNeed need_of(const DenoiseCut& cut) const {
    const std::uint64_t voxel_bytes = size_bytes(problem_.type);
    StreamNeed need;
    need.add("volume", cut.sets, static_cast<std::uint64_t>(cut.voxels) * voxel_bytes);
    if (cut.basic_voxels != 0) need.add("basic", cut.sets, static_cast<std::uint64_t>(cut.basic_voxels) * voxel_bytes);
    need.add("result", cut.sets, static_cast<std::uint64_t>(cut.voxels) * voxel_bytes);
    need.add_workspace(largest_workspace(cut));
    return need;
  }
  /// One queue runs all pieces, in a workspace that is large enough for each. That of a larger piece need not be
  /// larger.
  [[nodiscard]] const KernelInfo& largest_workspace(const DenoiseCut& cut) const {
    const KernelInfo* largest = nullptr;
    for (const DenoisePieces& pieces : cut.plan.passes) {
      std::set<std::int64_t> asked;
      for (std::int64_t number = 0; number < pieces.count(); ++number) {
        const DenoisePiece piece = pieces.piece(number);
        if (!asked.insert(piece.held()).second) continue;
        const KernelInfo& info = info_of(pieces, piece);
        if (largest == nullptr || info.workspace_bytes > largest->workspace_bytes) largest = &info;
      }
    }
    return *largest;
  }
  [[nodiscard]] const KernelInfo& info_of(const DenoisePieces& pieces, const DenoisePiece& piece) const {
    const Denoise problem = pieces.problem_of(piece);
    const std::array key{static_cast<std::int64_t>(problem.stage), problem.size.x, problem.size.y, problem.size.z};
    const auto found = infos_.find(key);
    if (found != infos_.end()) return found->second;
    return infos_.emplace(key, device_.kernel(problem, kernel_).info()).first->second;
  }
  [[nodiscard]] DenoiseCut with_memory(DenoiseCut cut) const {
    cut.plan.memory_bytes = need_of(cut).total_bytes();
    cut.workspace_bytes = largest_workspace(cut).workspace_bytes;
    return cut;
  }
  /// Planes that are computed, for each plane of the volume.
  [[nodiscard]] static double work_of(const DenoiseCut& cut) {
    double work = 0;
    for (const DenoisePieces& pieces : cut.plan.passes) {
      for (std::int64_t number = 0; number < pieces.count(); ++number)
        work += static_cast<double>(pieces.piece(number).held()) / static_cast<double>(pieces.planes());
    }
    return work;
  }

  /// What needs least: the smallest pieces along one axis, or all at once where pieces hold as much.
  [[nodiscard]] Error refusal() const {
    DenoiseCut least = all_at_once();
    for (const auto axis : kAxes) {
      DenoiseCut cut = cut_along(axis, 1, 1);
      if (need_of(cut).total_bytes() < need_of(least).total_bytes()) least = std::move(cut);
    }
    return limit_.refusal(Denoise::kName, text_of_cut(least), need_of(least));
  }
  [[nodiscard]] std::string text_of_cut(const DenoiseCut& cut) const {
    const auto largest =
        std::max_element(cut.plan.passes.begin(), cut.plan.passes.end(),
                         [](const DenoisePieces& a, const DenoisePieces& b) { return a.most_held() < b.most_held(); });
    const DenoisePieces& pieces = *largest;
    if (pieces.count() == 1) return sentence("all of the volume, ", text_of(problem_.size), " voxels, at a time");
    const auto axis = static_cast<std::size_t>(std::find(kAxes.begin(), kAxes.end(), pieces.axis()) - kAxes.begin());
    return sentence(pieces.piece(0).own(), " of ", pieces.planes(), " planes along ", kAxisNames[axis],
                    " and those within ", pieces.margin(), " of them, ", pieces.most_held(), " with ",
                    problem_.size.product() / pieces.planes() * problem_.channels, " voxels each, at a time");
  }

  const Device& device_;
  const Denoise& problem_;
  KernelOptions kernel_;
  StreamLimit limit_;
  mutable std::map<std::array<std::int64_t, 4>, KernelInfo> infos_;  // by stage and size
};

}  // namespace

DenoiseCut cut_denoise(const Device& device, const Denoise& problem, const StreamOptions& options) {
  return DenoiseCutter(device, problem, options).cut();
}

}  // namespace tessera::detail

namespace tessera {

DenoiseStreamPlan plan_stream(const Device& device, const Denoise& problem, const StreamOptions& options) {
  using namespace detail;
  return at_boundary([&] {
    core_of(device.core(), "device").refuse_elsewhere();
    return cut_denoise(device, checked_denoise(problem), options).plan;
  });
}

}  // namespace tessera
