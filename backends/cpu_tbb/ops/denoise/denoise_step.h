// One step of denoise as variants compute it: a piece of the references at a time, into sums that hold the part of the
// volume that the piece reaches.
#pragma once

#include <cstdint>
#include <functional>

#include <tessera/ops/denoise.h>

#include "cpu_tbb_executor.h"
#include "mathematics/denoise_numbers.h"
#include "mathematics/denoise_tables.h"
#include "mathematics/patch_match_geometry.h"
#include "ops/denoise/denoise_sums.h"

namespace tessera::cpu_tbb {

/// References [first, end) along each axis.
struct ReferenceBox {
  PerAxis first;
  PerAxis end;

  [[nodiscard]] PerAxis count() const noexcept { return {end.x - first.x, end.y - first.y, end.z - first.z}; }
};

/// What a step reads, in voxels of T.
template <class T>
struct DenoiseInput {
  const T* volume = nullptr;
  const T* basic = nullptr;  ///< null: the hard threshold
  const T* match = nullptr;  ///< what is matched: one channel
};

/// The numbers of one step of a volume.
struct DenoiseStepPlan {
  DenoiseStepPlan(const Denoise& whole, const DenoiseStep& parameters, int exponent)
      : problem(whole),
        step(parameters),
        matching(whole.matching(parameters)),
        geometry(matching),
        tables(parameters),
        numbers(whole, parameters, exponent) {}

  /// The voxels that stacks of these references reach along an axis: from the first to behind the last.
  [[nodiscard]] static std::int64_t first_voxel(const mathematics::PatchAxis& axis, std::int64_t reference) noexcept {
    return axis.first_candidate(axis.place(reference));
  }
  [[nodiscard]] static std::int64_t end_of_voxels(const mathematics::PatchAxis& axis, std::int64_t last) noexcept {
    return axis.end_of_candidates(axis.place(last)) - 1 + axis.patch;
  }
  [[nodiscard]] VoxelBox reach(const ReferenceBox& box) const noexcept {
    const mathematics::PatchGeometry& g = geometry;
    return {{first_voxel(g.x, box.first.x), first_voxel(g.y, box.first.y), first_voxel(g.z, box.first.z)},
            {end_of_voxels(g.x, box.end.x - 1), end_of_voxels(g.y, box.end.y - 1), end_of_voxels(g.z, box.end.z - 1)}};
  }
  [[nodiscard]] std::int64_t voxels() const noexcept { return problem.size.product(); }

  const Denoise& problem;
  const DenoiseStep& step;
  PatchMatch matching;
  mathematics::PatchGeometry geometry;
  mathematics::DenoiseTables tables;
  mathematics::DenoiseNumbers numbers;
};

/// Adds the estimates of all stacks of a box of references to the sums.
template <class T>
using FilterReferences =
    std::function<void(Executor&, const DenoiseStepPlan&, const DenoiseInput<T>&, const ReferenceBox&, DenoiseSums&)>;

/// How many lines of references, along the axis that is cut, a slab has.
struct DenoiseSlabs {
  std::int64_t lines = 1;
};

/// Both steps, or the one that the problem asks for.
template <class T>
void denoise(Executor& executor, const Denoise& problem, const DenoiseSlabs& slabs, const T* volume, const T* basic,
             T* result, const FilterReferences<T>& filter);

}  // namespace tessera::cpu_tbb
