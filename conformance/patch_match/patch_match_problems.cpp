// The list of patch_match's cases. Nothing is a cube unless it is to be one; windows straddle 4, 8, 16 and 32 lanes and
// passes of 64 to 1024 candidates, stacks every length at which a reduction has one step more.
#include "conformance/patch_match/patch_match_problems.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "conformance/patch_match/patch_match_case.h"
#include "conformance/patch_match/patch_match_huge.h"

namespace tessera::conformance {

namespace {

constexpr double kNoThreshold = std::numeric_limits<double>::infinity();

class PatchCaseList {
 public:
  explicit PatchCaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(PatchSpec spec) { cases_->push_back(make_patch_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// A small volume with nothing equal to anything else.
PatchMatch patches_of(DataType type) {
  return {.size = {19, 14, 11},
          .patch = {4, 3, 2},
          .window = {7, 6, 5},
          .step = {3, 2, 4},
          .max_patches = 16,
          .type = type};
}

PatchMatch image_of(DataType type, std::int64_t width, std::int64_t height) {
  PatchMatch problem = patches_of(type);
  problem.size = {width, height, 1};
  problem.patch.z = 1;
  return problem;
}

void add_sizes(PatchCaseList& list, DataType type) {
  for (const std::int64_t patch : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11}) {
    PatchMatch problem = patches_of(type);
    problem.patch = {patch, 3, 2};
    list.add({.problem = problem});
    problem.patch = {3, patch, 1};
    list.add({.problem = problem, .misalignment = 1});
    problem.patch = {2, 1, patch};
    list.add({.problem = problem});
  }
  for (const std::int64_t window : {1, 2, 3, 8, 9, 11, 15, 16, 17, 31, 33, 64}) {
    PatchMatch problem = patches_of(type);
    problem.size = {53, 9, 7};
    problem.window = {window, 3, 5};
    list.add({.problem = problem});
    problem.size = {9, 53, 7};
    problem.window = {4, window, 2};
    list.add({.problem = problem, .misalignment = 3});
  }
  for (const std::int64_t step : {1, 2, 3, 5, 10, 100}) {
    PatchMatch problem = patches_of(type);
    problem.step = {step, step, step + 1};
    list.add({.problem = problem});
    problem.step = {1, step, 1};
    list.add({.problem = problem});
  }
  for (const std::int64_t places : {1, 2, 3, 7, 8, 9, 15, 17, 31, 32, 33, 63, 64}) {
    PatchMatch problem = patches_of(type);
    problem.max_patches = places;
    list.add({.problem = problem});
    problem.window = {3, 3, 3};  // 27 candidates: fewer than some stacks have places
    list.add({.problem = problem, .volume = PatchVolume::few});
  }
}

/// Images, one voxel, a patch as large as the volume, a window larger than it, lines along each axis.
void add_shapes(PatchCaseList& list, DataType type) {
  for (const std::int64_t width : {4, 5, 17, 64, 129}) list.add({.problem = image_of(type, width, 13)});
  list.add({.problem = {.max_patches = 1, .type = type}});
  list.add({.problem = {.window = {5, 5, 5}, .max_patches = 64, .type = type}});
  list.add({.problem = {.size = {9, 8, 7}, .patch = {9, 8, 7}, .window = {11, 11, 11}, .type = type}});
  list.add(
      {.problem = {.size = {9, 8, 7}, .patch = {9, 7, 7}, .window = {11, 11, 11}, .step = {3, 3, 3}, .type = type}});
  list.add(
      {.problem = {.size = {300, 1, 1}, .patch = {5, 1, 1}, .window = {64, 1, 1}, .step = {7, 1, 1}, .type = type}});
  list.add(
      {.problem = {.size = {1, 300, 1}, .patch = {1, 5, 1}, .window = {1, 64, 1}, .step = {1, 7, 1}, .type = type}});
  list.add(
      {.problem = {.size = {1, 1, 300}, .patch = {1, 1, 5}, .window = {1, 1, 64}, .step = {1, 1, 7}, .type = type}});
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  PatchMatch all = patches_of(type);
  all.size = {11, 9, 6};
  all.window = {kLast, std::int64_t{1} << 32, 1000};
  all.step = {kLast, std::int64_t{1} << 32, 5};
  list.add({.problem = all, .note = "all"});
  PatchMatch usual{.size = {23, 18, 17}, .patch = {4, 4, 4}, .window = {11, 11, 11}, .step = {3, 3, 3}, .type = type};
  list.add({.problem = usual, .every_tuning = true});
  list.add({.problem = usual, .volume = PatchVolume::phantom, .note = "phantom", .every_tuning = true});
  // Steps so long that a tile of references spans many voxels: few find room together.
  list.add({.problem = {.size = {12, 12, 60},
                        .patch = {2, 2, 1},
                        .window = {4, 4, 2},
                        .step = {5, 5, 11},
                        .max_patches = 9,
                        .type = type},
            .every_tuning = true});
  // A reference at every place, for which neighbours share sums: stacks that fill up and some that do not.
  PatchMatch dense{.size = {21, 14, 11}, .patch = {4, 4, 4}, .window = {11, 7, 5}, .step = {1, 1, 1}, .type = type};
  list.add({.problem = dense});
  dense.max_patches = 5;
  list.add({.problem = dense, .volume = PatchVolume::few, .note = "few"});
}

/// Cubes of 4 voxels at every place, for which there are programs of their own: windows of any size that they take, and
/// distances farther than their keys hold.
void add_dense(PatchCaseList& list, DataType type) {
  const PatchMatch dense{
      .size = {25, 17, 14}, .patch = {4, 4, 4}, .window = {11, 11, 11}, .step = {1, 1, 1}, .type = type};
  for (const PatchVolume volume :
       {PatchVolume::noise, PatchVolume::phantom, PatchVolume::few, PatchVolume::ends, PatchVolume::constant}) {
    list.add({.problem = dense, .volume = volume, .note = "dense" + std::to_string(static_cast<int>(volume))});
  }
  for (const PerAxis& window : {PerAxis{10, 9, 8}, PerAxis{1, 2, 3}, PerAxis{5, 11, 7}, PerAxis{11, 1, 11}}) {
    PatchMatch problem = dense;
    problem.window = window;
    list.add({.problem = problem});
    problem.max_patches = 3;
    problem.size = {33, 5, 6};
    list.add({.problem = problem, .volume = PatchVolume::few, .note = "few", .misalignment = 1});
  }
  for (const std::int64_t side : {5, 7, 9}) {
    PatchMatch problem = dense;
    problem.size = {23, 17, 15};
    problem.window = {side, side, side};
    list.add({.problem = problem});
    list.add({.problem = problem, .volume = PatchVolume::phantom, .note = "phantom", .misalignment = 1});
    problem.max_patches = 5;
    list.add({.problem = problem, .volume = PatchVolume::few, .note = "few"});
    list.add({.problem = problem, .volume = PatchVolume::ends, .note = "ends"});
  }
  for (const std::int64_t places : {1, 7, 17}) {
    PatchMatch problem = dense;
    problem.max_patches = places;
    list.add({.problem = problem});
  }
  PatchMatch problem = dense;
  problem.size = {4, 21, 9};
  problem.threshold = type == DataType::float32 ? 18.0 : type == DataType::uint8 ? 400000.0 : 2.6e10;
  list.add({.problem = problem});
}

/// Volumes and thresholds: what ties, what is as far as can be, and thresholds between all and none.
void add_values(PatchCaseList& list, DataType type) {
  const auto add = [&](PatchMatch problem, PatchVolume volume, const std::string& note) {
    list.add({.problem = problem, .volume = volume, .note = note});
    problem.max_patches = 64;
    problem.step = {1, 1, 1};
    list.add({.problem = problem, .volume = volume, .note = note});
  };
  add(patches_of(type), PatchVolume::constant, "constant");
  add(patches_of(type), PatchVolume::few, "few");
  add(patches_of(type), PatchVolume::ends, "ends");
  const double typical = type == DataType::float32 ? 16.0 : type == DataType::uint8 ? 260000.0 : 1.7e10;
  for (const double threshold : {-1.0, 0.0, 0.5 * typical, typical, 1e30, -kNoThreshold}) {
    PatchMatch problem = patches_of(type);
    problem.threshold = threshold;
    add(problem, PatchVolume::noise, "");
    if (threshold == 0) add(problem, PatchVolume::few, "few");
    problem.threshold = threshold == 0.0 ? 4.0 : threshold == typical ? 5.99 : threshold;
    if (problem.threshold < 6) add(problem, PatchVolume::few, "few_near");
  }
}

/// NaN and infinities in a voxel, in all of them; sums that overflow and that underflow.
void add_floats(PatchCaseList& list, const PatchMatch& problem, bool every_tuning) {
  const auto add = [&](PatchSpec spec) {
    spec.every_tuning = every_tuning;
    list.add(std::move(spec));
  };
  const std::int64_t middle = (5 * problem.size.y + 7) * problem.size.x + 9;
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    const std::string name = value != value ? "nan" : value > 0 ? "inf" : "minf";
    add({.problem = problem, .plants = {{middle, value}}, .note = name});
    add({.problem = problem, .plants = {{0, value}, {middle, value}, {middle + 1, -value}}, .note = name + "s"});
    std::vector<std::pair<std::int64_t, float>> everywhere;
    for (std::int64_t i = 0; i < problem.size.product(); ++i) everywhere.emplace_back(i, value);
    add({.problem = problem, .plants = std::move(everywhere), .note = name + "_everywhere"});
  }
  add({.problem = problem, .values = Values::wide, .note = "wide"});
  add({.problem = problem, .values = Values::large, .note = "large"});
  add({.problem = problem, .values = Values::tiny, .note = "tiny"});
  add({.problem = problem, .plants = {{middle, 3e38F}, {middle + 40, -3e38F}}, .note = "overflow"});
  add({.problem = problem, .plants = {{middle, 1e18F}, {middle + 40, -1e15F}}, .note = "near_overflow"});
  // Small differences of large numbers: where sums are made of norms and products, they cancel.
  std::vector<std::pair<std::int64_t, float>> shifted;
  for (std::int64_t i = 0; i < problem.size.product(); ++i) {
    shifted.emplace_back(i, 30000.0F + static_cast<float>(i * 2654435761 / 256 % 4096) / 64.0F);
  }
  add({.problem = problem, .plants = shifted, .note = "shifted"});
  for (auto& [at, value] : shifted) value += at % problem.size.x < problem.size.x / 2 ? 0.0F : -60000.0F;
  add({.problem = problem, .plants = std::move(shifted), .note = "shifted_apart"});
  // Ties of a part of the volume alone: what a screen leaves is of few of the references that share a group.
  std::vector<std::pair<std::int64_t, float>> tied;
  for (std::int64_t i = 0; i < problem.size.product(); ++i) {
    const std::int64_t x = i % problem.size.x;
    const std::int64_t y = i / problem.size.x % problem.size.y;
    if (x < 12 && y < 9) tied.emplace_back(i, i * 2654435761 / 4096 % 2 == 0 ? 0.5F : 0.25F);
  }
  add({.problem = problem, .plants = std::move(tied), .note = "tied_apart"});
}

void add_slow(PatchCaseList& list, DataType type) {
  PatchMatch problem{.size = {90, 61, 40}, .patch = {4, 4, 4}, .window = {11, 11, 11}, .step = {3, 3, 3}, .type = type};
  list.add({.problem = problem, .purpose = Purpose::slow});
  problem.size = {45, 37, 20};
  problem.step = {1, 1, 1};
  list.add({.problem = problem, .purpose = Purpose::slow, .volume = PatchVolume::phantom});
  problem = {.size = {70, 65, 60}, .patch = {33, 32, 32}, .window = {9, 9, 9}, .step = {19, 17, 15}, .type = type};
  list.add({.problem = problem, .purpose = Purpose::slow, .volume = PatchVolume::ends});
}

/// The reference volume, a fourth of it along each axis for slow devices, and that at step 1. The threshold keeps what
/// differs by the noise alone.
void add_benchmarks(PatchCaseList& list) {
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    const double top = type == DataType::uint8 ? 255 : type == DataType::uint16 ? 65535 : 1;
    for (const bool whole : {true, false}) {
      PatchMatch problem{.size = whole ? PerAxis{352, 240, 150} : PerAxis{88, 60, 38},
                         .patch = {4, 4, 4},
                         .window = {11, 11, 11},
                         .step = {3, 3, 3},
                         .max_patches = 16,
                         .threshold = 0.15 * top * top,
                         .type = type};
      list.add({.problem = problem, .purpose = Purpose::benchmark, .volume = PatchVolume::phantom});
      problem.step = {1, 1, 1};
      if (!whole) list.add({.problem = problem, .purpose = Purpose::benchmark, .volume = PatchVolume::phantom});
    }
  }
}

}  // namespace

ProblemSet patch_match_problem_set() {
  ProblemSet set{.operator_name = std::string(PatchMatch::kName), .cases = {}, .make_case = patch_match_case_of};
  PatchCaseList list(set.cases);
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    add_sizes(list, type);
    add_shapes(list, type);
    add_values(list, type);
    add_dense(list, type);
    add_slow(list, type);
    set.cases.push_back(make_huge_patch_case(type));
  }
  add_floats(list, patches_of(DataType::float32), false);
  // Cubes of 4 voxels, whose sums are made of norms and products.
  PatchMatch cubes{.size = {23, 18, 17}, .patch = {4, 4, 4}, .window = {11, 11, 11}, .step = {3, 3, 3}};
  add_floats(list, cubes, true);
  add_benchmarks(list);
  add_patch_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
