// The list of denoise's cases. Nothing is a cube unless it is to be one; windows are small, so that the oracle is
// quick, and stacks have every length that is filtered.
#include "conformance/denoise/denoise_problems.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "conformance/denoise/denoise_case.h"

namespace tessera::conformance {

namespace {

class DenoiseCaseList {
 public:
  explicit DenoiseCaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(DenoiseSpec spec) { cases_->push_back(make_denoise_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// A part of the range that voxels span.
double sigma_of(DataType type, double part) {
  return part * (type == DataType::uint8 ? 255 : type == DataType::uint16 ? 65535 : 1);
}

/// A small volume whose steps have nothing in common.
Denoise volume_with(DataType type) {
  return {.size = {23, 18, 13},
          .sigma = sigma_of(type, 0.1),
          .type = type,
          .hard = {.patch = {4, 4, 4}, .window = {7, 6, 5}, .step = {3, 2, 4}, .max_patches = 16},
          .wiener = {.patch = {5, 4, 3}, .window = {5, 7, 6}, .step = {2, 3, 3}, .max_patches = 32}};
}

Denoise image_with(DataType type, std::int64_t width, std::int64_t height) {
  return {.size = {width, height, 1},
          .sigma = sigma_of(type, 0.1),
          .type = type,
          .hard = {.window = {11, 9, 1}},
          .wiener = {.window = {9, 12, 1}}};
}

void add_shapes(DenoiseCaseList& list, DataType type) {
  list.add({.problem = volume_with(type), .every_tuning = true});
  list.add({.problem = image_with(type, 53, 37), .every_tuning = true});
  for (const std::int64_t width : {8, 9, 17, 32, 129}) list.add({.problem = image_with(type, width, 13)});
  list.add({.problem = image_with(type, 41, 67), .misalignment = 3});
  Denoise one{.sigma = sigma_of(type, 0.1), .type = type, .hard = {.patch = {1, 1, 1}}, .wiener = {.patch = {1, 1, 1}}};
  list.add({.problem = one, .note = "one_voxel"});
  Denoise whole = volume_with(type);
  whole.size = {8, 4, 16};
  whole.hard.patch = whole.wiener.patch = whole.size;
  list.add({.problem = whole, .note = "one_patch"});
  Denoise line = volume_with(type);
  line.size = {1, 1, 200};
  line.hard.patch = line.wiener.patch = {1, 1, 8};
  line.hard.window = line.wiener.window = {1, 1, 31};
  list.add({.problem = line, .every_tuning = true});
  Denoise thin = volume_with(type);
  thin.size = {40, 31, 2};
  thin.hard.patch.z = thin.wiener.patch.z = 2;
  list.add({.problem = thin, .note = "two_slices", .every_tuning = true});
  Denoise all = volume_with(type);  // every patch is a candidate
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  all.size = {12, 9, 7};
  all.hard.window = all.wiener.window = {kLast, std::int64_t{1} << 32, 1000};
  all.hard.step = {kLast, std::int64_t{1} << 32, 2};
  list.add({.problem = all, .note = "all", .every_tuning = true});
  // References so far from each other that voxels between them are in no patch.
  Denoise sparse = volume_with(type);
  sparse.hard.window = sparse.wiener.window = {2, 1, 1};
  sparse.hard.step = sparse.wiener.step = {9, 8, 11};
  sparse.size.z = 30;
  list.add({.problem = sparse, .note = "sparse", .every_tuning = true});
}

/// Stacks of cubes of four in both steps.
Denoise cubes_with(DataType type, std::int64_t places) {
  Denoise problem = volume_with(type);
  problem.wiener.patch = {4, 4, 4};
  problem.hard.max_patches = problem.wiener.max_patches = places;
  return problem;
}

void add_cubes(DenoiseCaseList& list, DataType type) {
  for (const std::int64_t places : {16, 32}) {
    Denoise columns = cubes_with(type, places);  // more references along x and y than a tile has
    columns.size = {40, 45, 19};
    list.add({.problem = columns, .note = "columns", .every_tuning = true});
    columns.hard.threshold = 1.6;  // stacks of any length
    columns.wiener.threshold = 0.02;
    list.add({.problem = columns, .note = "columns", .misalignment = 1});
    Denoise dense = cubes_with(type, places);  // many layers reach a voxel
    dense.size = {14, 12, 17};
    dense.hard.step = dense.wiener.step = {1, 1, 1};
    list.add({.problem = dense, .note = "dense"});
  }
}

void add_parameters(DenoiseCaseList& list, DataType type) {
  for (const std::int64_t side : {1, 2, 3, 4, 5, 7, 8, 9, 16}) {
    Denoise problem = volume_with(type);
    problem.wiener.patch = {side, 3, 2};
    problem.hard.patch = {3, 2, std::min<std::int64_t>(side, 13)};
    problem.hard.transform = PatchTransform::dct;
    list.add({.problem = problem});
  }
  for (const std::int64_t places : {1, 2, 3, 8, 17, 64}) {
    Denoise problem = volume_with(type);
    problem.hard.max_patches = problem.wiener.max_patches = places;
    problem.hard.threshold = problem.wiener.threshold = std::numeric_limits<double>::infinity();
    list.add({.problem = problem});
  }
  for (const DenoiseStage stage : {DenoiseStage::hard_threshold, DenoiseStage::wiener}) {
    Denoise problem = volume_with(type);
    problem.stage = stage;
    list.add({.problem = problem});
    problem.channels = 3;
    list.add({.problem = problem, .misalignment = 1});
  }
  Denoise swapped = volume_with(type);
  swapped.hard.transform = PatchTransform::dct;
  swapped.wiener.transform = PatchTransform::haar;
  swapped.wiener.patch = {2, 8, 4};
  swapped.hard.kaiser = 0;
  swapped.wiener.kaiser = 9.5;
  swapped.shrinkage = 3.5;
  list.add({.problem = swapped});
  Denoise strict = volume_with(type);  // stacks of one patch, of two, and of more
  strict.hard.threshold = 1.6;
  strict.wiener.threshold = 0.02;
  list.add({.problem = strict});
}

void add_values(DenoiseCaseList& list, DataType type) {
  for (const double part : {0.0, 1e-7, 0.004, 0.4, 30.0, 1e20}) {
    Denoise problem = volume_with(type);
    problem.sigma = sigma_of(type, part);
    list.add({.problem = problem});
    if (part == 0) problem.channels = 3;
    if (part == 0) list.add({.problem = problem});
  }
  for (const DenoiseVolume content : {DenoiseVolume::constant, DenoiseVolume::ends}) {
    const std::string note = content == DenoiseVolume::ends ? "ends" : "constant";
    list.add({.problem = volume_with(type), .volume = content, .note = note});
    Denoise colour = image_with(type, 27, 22);
    colour.channels = 3;
    list.add({.problem = colour, .volume = content, .note = note});
  }
}

void add_profiles(DenoiseCaseList& list, DataType type) {
  for (const DenoiseProfile profile : {DenoiseProfile::fast, DenoiseProfile::normal, DenoiseProfile::high}) {
    Denoise problem{.size = {29, 31, 1}, .sigma = sigma_of(type, 0.1), .type = type, .profile = profile};
    list.add({.problem = problem});
    problem.channels = 3;
    list.add({.problem = problem});
    problem.sigma = sigma_of(type, 0.2);  // so much that patches are larger
    problem.range = sigma_of(type, 1);
    list.add({.problem = problem});
    problem = {.size = {14, 11, 9}, .sigma = sigma_of(type, 0.1), .type = type, .profile = profile};
    list.add({.problem = problem});
  }
}

/// NaN, infinities, scales at both ends of the exponents.
void add_floats(DenoiseCaseList& list) {
  const Denoise problem = volume_with(DataType::float32);
  const std::int64_t middle = (6 * problem.size.y + 7) * problem.size.x + 9;
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    const std::string name = value != value ? "nan" : value > 0 ? "inf" : "minf";
    for (const DenoiseStage stage : {DenoiseStage::both, DenoiseStage::wiener}) {
      Denoise staged = problem;
      staged.stage = stage;
      list.add({.problem = staged, .plants = {{middle, value}, {0, value}}, .note = name});
      staged.channels = 3;
      list.add({.problem = staged, .plants = {{middle, value}, {0, value}}, .note = name});
    }
    std::vector<std::pair<std::int64_t, float>> everywhere;
    for (std::int64_t i = 0; i < problem.size.product(); ++i) everywhere.emplace_back(i, value);
    list.add({.problem = problem, .plants = std::move(everywhere), .note = name + "_everywhere"});
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Denoise cubes = cubes_with(DataType::float32, 16);
  list.add({.problem = cubes, .plants = {{middle, nan}, {0, -infinity}}, .note = "cubes_nan"});
  cubes.stage = DenoiseStage::wiener;
  list.add({.problem = cubes, .plants = {{middle, nan}, {0, infinity}}, .note = "cubes_nan"});
  list.add({.problem = problem, .plants = {{middle, 3e38F}, {middle + 40, -3e38F}}, .note = "overflow"});
  for (const float factor : {1e-30F, 1e-12F, 1e12F, 1e18F, 1e30F}) {
    Denoise scaled = problem;
    scaled.sigma *= static_cast<double>(factor);
    list.add({.problem = scaled, .factor = factor});
    scaled.wiener.patch = {4, 4, 4};
    list.add({.problem = scaled, .factor = factor, .note = "cubes"});
  }
}

void add_slow(DenoiseCaseList& list, DataType type) {
  Denoise problem{.size = {101, 83, 1}, .sigma = sigma_of(type, 0.2), .type = type};
  list.add({.problem = problem, .purpose = Purpose::slow});
  problem.channels = 3;
  list.add({.problem = problem, .purpose = Purpose::slow});
  list.add({.problem = {.size = {33, 29, 25}, .sigma = sigma_of(type, 0.05), .type = type}, .purpose = Purpose::slow});
}

/// The sizes at which speed and quality are compared with other people's programs.
void add_benchmarks(DenoiseCaseList& list) {
  for (const DenoiseProfile profile : {DenoiseProfile::normal, DenoiseProfile::fast}) {
    for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
      Denoise problem{.size = {512, 512, 1}, .sigma = sigma_of(type, 0.1), .type = type, .profile = profile};
      list.add({.problem = problem, .purpose = Purpose::benchmark});
      problem.size = {64, 64, 64};
      list.add({.problem = problem, .purpose = Purpose::benchmark});
    }
    Denoise colour{.size = {512, 512, 1}, .channels = 3, .sigma = 25, .type = DataType::uint8, .profile = profile};
    list.add({.problem = colour, .purpose = Purpose::benchmark});
  }
}

}  // namespace

ProblemSet denoise_problem_set() {
  ProblemSet set{.operator_name = std::string(Denoise::kName), .cases = {}, .make_case = denoise_case_of};
  DenoiseCaseList list(set.cases);
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    add_shapes(list, type);
    add_cubes(list, type);
    add_parameters(list, type);
    add_values(list, type);
    add_profiles(list, type);
    add_slow(list, type);
  }
  add_floats(list);
  add_benchmarks(list);
  return set;
}

}  // namespace tessera::conformance
