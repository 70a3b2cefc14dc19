// One case of denoise: a problem, what its volume holds, and how it lies in memory.
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
enum class DenoiseVolume : std::uint8_t {
  scene,     ///< edges, a texture and noise of the problem's sigma
  constant,  ///< all voxels equal
  ends,      ///< the least and the largest number by itself: estimates pass both ends
};

struct DenoiseSpec {
  Denoise problem;
  Purpose purpose = Purpose::conformance;
  DenoiseVolume volume = DenoiseVolume::scene;
  std::vector<std::pair<std::int64_t, float>> plants = {};  ///< voxels of a float volume that hold something else
  float factor = 1;                                         ///< that voxels of a float volume are multiplied with
  std::string note = {};                                    ///< appended to the name: what the numbers don't say
  std::size_t misalignment = 0;  ///< elements between an aligned address and the operands' first elements
  bool every_tuning = false;
};

[[nodiscard]] std::unique_ptr<Case> make_denoise_case(DenoiseSpec spec);

/// "uint8_20x17x9_s12_normal", and what differs from a profile.
[[nodiscard]] std::string denoise_case_name(const Denoise& problem);
[[nodiscard]] std::vector<Field> denoise_fields(const Denoise& problem);
/// What the fields' words say, to be measured. Errors as FieldReader.
[[nodiscard]] std::unique_ptr<Case> denoise_case_of(const ProblemWords& words);
/// Of the matches, and of the transforms of whole stacks.
[[nodiscard]] Work denoise_work(const Denoise& problem);

}  // namespace tessera::conformance
