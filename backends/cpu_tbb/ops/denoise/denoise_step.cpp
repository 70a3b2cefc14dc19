// The frame of both steps: scale, what is matched, slab after slab of references, and sums that become voxels.
#include "ops/denoise/denoise_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "mathematics/denoise_rounds.h"
#include "mathematics/division.h"
#include "ops/denoise/denoise_colour.h"

namespace tessera::cpu_tbb {

namespace {

/// Voxels that one chunk of a simple loop takes.
constexpr std::int64_t kChunk = 1 << 15;

/// Calls `work(first, end)` for stretches of [0, count).
template <class Work>
void over_stretches(Executor& executor, std::int64_t count, const Work& work) {
  executor.parallel_for(mathematics::ceil_div(count, kChunk), [&](std::int64_t begin, std::int64_t end) {
    work(begin * kChunk, std::min(end * kChunk, count));
  });
}

/// That of the largest finite magnitude in the volume and, if there is one, the basic estimate.
template <class T>
int exponent_of(Executor& executor, const Denoise& problem, const T* volume, const T* basic) {
  if constexpr (std::is_same_v<T, float>) {
    float largest = 0;
    std::mutex mutex;
    over_stretches(executor, problem.size.product() * problem.channels, [&](std::int64_t first, std::int64_t end) {
      float here = 0;
      const auto look = [&](float voxel) {
        if (std::isfinite(voxel)) here = std::max(here, std::abs(voxel));
      };
      for (std::int64_t i = first; i < end; ++i) {
        look(volume[i]);
        if (basic != nullptr) look(basic[i]);
      }
      const std::lock_guard lock(mutex);
      largest = std::max(largest, here);
    });
    return mathematics::denoise_exponent(largest);
  } else {
    return mathematics::denoise_exponent(problem.type);
  }
}

/// The references of one slab after the other.
class SlabWalk {
 public:
  SlabWalk(const DenoiseStepPlan& plan, std::int64_t lines)
      : plan_(plan),
        axis_(mathematics::denoise_slab_axis(plan.matching.references())),
        all_{{0, 0, 0}, plan.matching.references()},
        lines_(std::clamp<std::int64_t>(lines, 1, all_.end.*axis_)) {}

  [[nodiscard]] std::int64_t PerAxis::*axis() const noexcept { return axis_; }
  [[nodiscard]] std::int64_t count() const noexcept { return mathematics::ceil_div(all_.end.*axis_, lines_); }
  [[nodiscard]] ReferenceBox references(std::int64_t slab) const noexcept {
    ReferenceBox box = all_;
    box.first.*axis_ = slab * lines_;
    box.end.*axis_ = std::min(box.first.*axis_ + lines_, all_.end.*axis_);
    return box;
  }
  /// Voxels whose sums must be held for a slab: all of the volume but along the axis.
  [[nodiscard]] VoxelBox voxels(std::int64_t slab) const noexcept {
    const VoxelBox reach = plan_.reach(references(slab));
    VoxelBox box{{0, 0, 0}, plan_.problem.size};
    box.first.*axis_ = reach.first.*axis_;
    box.end.*axis_ = reach.end.*axis_;
    return box;
  }
  [[nodiscard]] PerAxis most_voxels() const noexcept {
    PerAxis most = voxels(0).count();
    for (std::int64_t slab = 1; slab < count(); ++slab)
      most.*axis_ = std::max(most.*axis_, voxels(slab).count().*axis_);
    return most;
  }

 private:
  const DenoiseStepPlan& plan_;
  std::int64_t PerAxis::*axis_;
  ReferenceBox all_;
  std::int64_t lines_;
};

/// One voxel of every channel: the sums' quotients.
template <class T>
void finish_voxel(const DenoiseStepPlan& plan, const DenoiseSums& sums, std::int64_t sum, const T* from, T* to) {
  const std::int64_t channels = plan.problem.channels;
  std::int64_t units[3] = {};
  for (std::int64_t c = 0; c < channels; ++c) {
    const SumsOfChannel channel = sums.channel(c);
    units[c] = mathematics::nearest_quotient(channel.estimates[sum], channel.weights[sum]);
  }
  if (channels == 3) units_of_colours(units);
  for (std::int64_t c = 0; c < channels; ++c) {
    const T old = from[c * plan.voxels()];
    const bool is_finite = !std::is_same_v<T, float> || std::isfinite(static_cast<float>(old));
    to[c * plan.voxels()] =
        is_finite ? mathematics::denoised_voxel<T>(units[c], plan.numbers.fraction_bits(), plan.numbers.exponent) : old;
  }
}

/// One voxel of every channel that no stack reaches: the basic estimate's, or what it was.
template <class T>
void finish_unreached_voxel(const DenoiseStepPlan& plan, const T* from, const T* basic, T* to) {
  const std::int64_t end = plan.problem.channels * plan.voxels();
  for (std::int64_t i = 0; i < end; i += plan.voxels()) {
    const bool has_estimate =
        basic != nullptr && std::isfinite(static_cast<float>(from[i])) && std::isfinite(static_cast<float>(basic[i]));
    to[i] = has_estimate ? basic[i] : from[i];
  }
}

/// Writes the voxels of `box`, which lie in the sums or behind them: there no stack reaches.
template <class T>
void finish(Executor& executor, const DenoiseStepPlan& plan, const DenoiseSums& sums, const VoxelBox& box,
            const DenoiseInput<T>& input, T* result) {
  const T* const volume = input.volume;
  if (box.is_empty()) return;
  const PerAxis& size = plan.problem.size;
  const PerAxis count = box.count();
  executor.parallel_for(count.y * count.z, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const PerAxis at{box.first.x, box.first.y + row % count.y, box.first.z + row / count.y};
      const std::int64_t first = (at.z * size.y + at.y) * size.x + at.x;
      const bool is_held = at.y < sums.box().end.y && at.z < sums.box().end.z;
      const std::int64_t sum = is_held ? sums.index(at) : 0;
      const std::int64_t* const weights = sums.channel(0).weights + sum;
      for (std::int64_t x = 0; x < count.x; ++x) {
        if (is_held && weights[x] != 0) {
          finish_voxel(plan, sums, sum + x, volume + first + x, result + first + x);
        } else {
          const T* const basic = input.basic == nullptr ? nullptr : input.basic + first + x;
          finish_unreached_voxel(plan, volume + first + x, basic, result + first + x);
        }
      }
    }
  });
}

template <class T>
void run_slabs(Executor& executor, const DenoiseStepPlan& plan, const DenoiseSlabs& slabs, const DenoiseInput<T>& input,
               T* result, const FilterReferences<T>& filter) {
  const SlabWalk walk(plan, slabs.lines);
  DenoiseSums sums(executor.scratch(), walk.most_voxels(), plan.problem.channels);
  VoxelBox unwritten{{0, 0, 0}, plan.problem.size};
  for (std::int64_t slab = 0; slab < walk.count(); ++slab) {
    const VoxelBox next = walk.voxels(slab);
    VoxelBox done = unwritten;
    done.end.*walk.axis() = next.first.*walk.axis();
    finish(executor, plan, sums, done, input, result);
    unwritten.first.*walk.axis() = next.first.*walk.axis();
    sums.move(next);
    filter(executor, plan, input, walk.references(slab), sums);
  }
  finish(executor, plan, sums, unwritten, input, result);
}

template <class T>
void run_step(Executor& executor, const Denoise& problem, const DenoiseStep& step, const DenoiseSlabs& slabs,
              const T* volume, const T* basic, T* result, const FilterReferences<T>& filter) {
  const DenoiseStepPlan plan(problem, step, exponent_of(executor, problem, volume, basic));
  const T* const to_match = basic != nullptr ? basic : volume;
  const bool is_colour = problem.channels == 3;
  const ScratchPool::Loan loan(executor.scratch(), is_colour ? sizeof(T) * static_cast<std::size_t>(plan.voxels()) : 0);
  T* const mean = reinterpret_cast<T*>(loan.data());
  if (is_colour) {
    over_stretches(executor, plan.voxels(), [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t i = first; i < end; ++i)
        mean[i] = mean_of_colours(to_match[i], to_match[plan.voxels() + i], to_match[2 * plan.voxels() + i]);
    });
  }
  run_slabs(executor, plan, slabs, {volume, basic, is_colour ? mean : to_match}, result, filter);
}

}  // namespace

template <class T>
void denoise(Executor& executor, const Denoise& problem, const DenoiseSlabs& slabs, const T* volume, const T* basic,
             T* result, const FilterReferences<T>& filter) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(problem.size.product() * problem.channels);
  if (problem.sigma == 0) {
    std::memcpy(result, volume, bytes);
    return;
  }
  const bool both = problem.stage == DenoiseStage::both;
  const ScratchPool::Loan loan(executor.scratch(), both ? bytes : 0);
  if (problem.has(DenoiseStage::hard_threshold)) {
    T* const estimate = both ? reinterpret_cast<T*>(loan.data()) : result;
    run_step<T>(executor, problem, problem.hard, slabs, volume, nullptr, estimate, filter);
    basic = estimate;
  }
  if (problem.has(DenoiseStage::wiener))
    run_step<T>(executor, problem, problem.wiener, slabs, volume, basic, result, filter);
}

template void denoise(Executor&, const Denoise&, const DenoiseSlabs&, const std::uint8_t*, const std::uint8_t*,
                      std::uint8_t*, const FilterReferences<std::uint8_t>&);
template void denoise(Executor&, const Denoise&, const DenoiseSlabs&, const std::uint16_t*, const std::uint16_t*,
                      std::uint16_t*, const FilterReferences<std::uint16_t>&);
template void denoise(Executor&, const Denoise&, const DenoiseSlabs&, const float*, const float*, float*,
                      const FilterReferences<float>&);

}  // namespace tessera::cpu_tbb
