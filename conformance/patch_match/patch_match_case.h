// One case of patch_match: a problem, what its volume holds, and how it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/inputs.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

/// What a volume holds.
enum class PatchVolume : std::uint8_t {
  noise,     ///< every voxel by itself, from the whole range of the type; floats as `values` says
  few,       ///< 0 or 1 by itself: many equal distances
  ends,      ///< the type's least or largest number, of floats -1e18 or 1e18, by itself: the largest distances
  constant,  ///< all voxels equal: all distances are 0
  phantom,   ///< bodies of equal voxels and noise on them, as an X-ray volume has
};

struct PatchSpec {
  PatchMatch problem;
  Purpose purpose = Purpose::conformance;
  PatchVolume volume = PatchVolume::noise;
  Values values = Values::symmetric;
  std::vector<std::pair<std::int64_t, float>> plants = {};  ///< voxels of a float volume that hold something else
  std::string note = {};                                    ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool every_tuning = false;
  std::string_view part = "";  ///< of a study
};

[[nodiscard]] std::unique_ptr<Case> make_patch_case(PatchSpec spec);

/// "uint8_20x17x9_p4x4x4_w11x11x11_s3x3x3_n16_t1000".
[[nodiscard]] std::string patch_case_name(const PatchMatch& problem);
[[nodiscard]] std::vector<Field> patch_fields(const PatchMatch& problem);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> patch_match_case_of(const ProblemWords& words);
/// A product and a sum for each voxel of each pair of patches; what lies beyond a border is not counted.
[[nodiscard]] Work patch_work(const PatchMatch& problem);

}  // namespace tessera::conformance
