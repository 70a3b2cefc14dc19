// The cases of patch_match's study: the reference volume and a small part of it, on which tuning values are tried; and
// series over windows and over the places of a stack.
#include "conformance/patch_match/patch_match_problems.h"

#include <cstdint>
#include <string>
#include <utility>

#include "conformance/patch_match/patch_match_case.h"

namespace tessera::conformance {

namespace {

constexpr PerAxis kReferenceVolume{352, 240, 150};
constexpr PerAxis kHalf{176, 120, 75};
constexpr PerAxis kFourth{88, 60, 38};

class StudyCases {
 public:
  StudyCases(std::vector<std::unique_ptr<Case>>& cases, Purpose purpose) : cases_(&cases), purpose_(purpose) {}

  void add(std::string_view part, PerAxis size, std::int64_t window, std::int64_t places, bool every_tuning = false,
           DataType type = DataType::uint8) {
    const double top = type == DataType::uint8 ? 255 : type == DataType::uint16 ? 65535 : 1;
    PatchSpec spec{.problem = {.size = size,
                               .patch = {4, 4, 4},
                               .window = {window, window, window},
                               .step = {3, 3, 3},
                               .max_patches = places,
                               .threshold = 0.15 * top * top,
                               .type = type},
                   .purpose = purpose_,
                   .volume = PatchVolume::phantom,
                   .every_tuning = every_tuning,
                   .part = part};
    spec.note = std::string(part) + (purpose_ == Purpose::study ? "_study" : "_study_quick");
    cases_->push_back(make_patch_case(std::move(spec)));
  }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
  Purpose purpose_;
};

}  // namespace

void add_patch_study(std::vector<std::unique_ptr<Case>>& cases) {
  StudyCases study(cases, Purpose::study);
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    study.add(kPatchStudyVersions, kFourth, 11, 16, true, type);
    study.add(kPatchStudyVersions, kReferenceVolume, 11, 16, false, type);
  }
  for (const std::int64_t window : {5, 7, 9, 11, 15, 21}) study.add(kPatchStudyWindows, kHalf, window, 16);
  for (const std::int64_t places : {4, 8, 16, 32, 64}) study.add(kPatchStudyStacks, kHalf, 11, places);
  StudyCases quick(cases, Purpose::quick_study);
  constexpr PerAxis kSmall{17, 13, 11};
  quick.add(kPatchStudyVersions, kSmall, 5, 4, true);
  quick.add(kPatchStudyVersions, kSmall, 5, 4, true, DataType::float32);
  for (const std::int64_t window : {3, 5}) quick.add(kPatchStudyWindows, kSmall, window, 4);
  for (const std::int64_t places : {2, 4}) quick.add(kPatchStudyStacks, kSmall, 5, places);
}

}  // namespace tessera::conformance
