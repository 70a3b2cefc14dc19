// One case of nonlocal_means: a problem, what its volume holds, and how it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/problem_set.h"

namespace tessera::conformance {

/// What a volume holds, from 0 to the largest integer, or to 1.
enum class MeansVolumeContent : std::uint8_t {
  scene,     ///< a textured ball on a ramp, with noise of the problem's sigma
  constant,  ///< all voxels equal
  ends,      ///< the least and the largest number by itself: the largest distances
};

struct MeansSpec {
  NonlocalMeans problem;
  Purpose purpose = Purpose::conformance;
  MeansVolumeContent volume = MeansVolumeContent::scene;
  std::vector<std::pair<std::int64_t, float>> plants = {};  ///< voxels of a float volume that hold something else
  float factor = 1;                                         ///< that voxels of a float volume are multiplied with
  std::string note = {};                                    ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool every_tuning = false;
};

[[nodiscard]] std::unique_ptr<Case> make_means_case(MeansSpec spec);

/// "uint8_20x17x9_sigma12", and what differs from the usual parameters.
[[nodiscard]] std::string means_case_name(const NonlocalMeans& problem);
[[nodiscard]] std::vector<Field> means_fields(const NonlocalMeans& problem);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> nonlocal_means_case_of(const ProblemWords& words);
/// A product and a sum for each voxel of each pair of patches, and for each weight; what lies beyond a border counts.
[[nodiscard]] Work means_work(const NonlocalMeans& problem);

}  // namespace tessera::conformance
