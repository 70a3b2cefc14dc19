// The list of nonlocal_means' cases. Nothing is a cube unless it is to be one; sizes straddle tiles, and are small
// where windows are large, so that the oracle is quick.
#include "conformance/nonlocal_means/nonlocal_means_problems.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "conformance/nonlocal_means/nonlocal_means_case.h"

namespace tessera::conformance {

namespace {

class MeansCaseList {
 public:
  explicit MeansCaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(MeansSpec spec) { cases_->push_back(make_means_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// A part of the range that voxels span.
double sigma_of_means(DataType type, double part) {
  return part * (type == DataType::uint8 ? 255 : type == DataType::uint16 ? 65535 : 1);
}

/// A small volume whose sides have nothing in common.
NonlocalMeans volume_of_means(DataType type) {
  return {
      .size = {23, 18, 13}, .sigma = sigma_of_means(type, 0.1), .patch = {3, 2, 5}, .window = {7, 6, 5}, .type = type};
}

NonlocalMeans image_of_means(DataType type, std::int64_t width, std::int64_t height) {
  return {.size = {width, height, 1},
          .sigma = sigma_of_means(type, 0.1),
          .patch = {5, 3, 1},
          .window = {9, 8, 1},
          .type = type};
}

void add_shapes(MeansCaseList& list, DataType type) {
  list.add({.problem = volume_of_means(type), .every_tuning = true});
  list.add({.problem = image_of_means(type, 53, 37), .misalignment = 3, .every_tuning = true});
  for (const std::int64_t width : {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 129})
    list.add({.problem = image_of_means(type, width, 13)});
  for (const std::int64_t height : {31, 32, 33}) list.add({.problem = image_of_means(type, 12, height)});
  for (const PerAxis& size : {PerAxis{1, 1, 1}, PerAxis{200, 1, 1}, PerAxis{1, 150, 1}, PerAxis{1, 1, 130},
                              PerAxis{40, 31, 2}, PerAxis{3, 50, 9}}) {
    NonlocalMeans problem = volume_of_means(type);
    problem.size = size;
    list.add({.problem = problem});
    problem.patch = problem.window = {0, 0, 0};
    list.add({.problem = problem});
    problem.channels = 3;
    list.add({.problem = problem});
  }
  NonlocalMeans colour = volume_of_means(type);
  colour.channels = 3;
  list.add({.problem = colour, .misalignment = 1});
  colour = image_of_means(type, 41, 29);
  colour.channels = 3;
  list.add({.problem = colour});
}

void add_parameters(MeansCaseList& list, DataType type) {
  for (const PerAxis& patch : {PerAxis{1, 1, 1}, PerAxis{2, 2, 2}, PerAxis{8, 8, 8}, PerAxis{512, 1, 1},
                               PerAxis{1, 37, 2}, PerAxis{1, 1, 60}}) {
    // Of small volumes, mirrored several times over.
    NonlocalMeans problem = volume_of_means(type);
    problem.size = {11, 9, 6};
    problem.patch = patch;
    list.add({.problem = problem});
    problem.size = {2, 1, 3};
    list.add({.problem = problem});
  }
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  for (const PerAxis& window : {PerAxis{1, 1, 1}, PerAxis{2, 1, 4}, PerAxis{1, 30, 1}, PerAxis{40, 2, 3},
                                PerAxis{kLast, std::int64_t{1} << 32, kLast - 1}}) {
    NonlocalMeans problem = volume_of_means(type);
    problem.window = window;
    if (window.x == kLast) problem.size = {12, 9, 7};  // every voxel is a candidate
    list.add({.problem = problem});
  }
  for (const double strength : {1e-200, 0.01, 0.4, 3.0, 1e200}) {
    NonlocalMeans problem = image_of_means(type, 37, 26);
    problem.strength = strength;
    list.add({.problem = problem});
  }
}

void add_values(MeansCaseList& list, DataType type) {
  for (const double part : {0.0, 1e-320, 1e-7, 0.004, 0.4, 30.0, 1e20, 1e300}) {
    NonlocalMeans problem = volume_of_means(type);
    problem.sigma = sigma_of_means(type, part);
    list.add({.problem = problem});
    problem.channels = 3;
    if (part == 0) list.add({.problem = problem});
  }
  for (const MeansVolumeContent content : {MeansVolumeContent::constant, MeansVolumeContent::ends}) {
    const std::string note = content == MeansVolumeContent::ends ? "ends" : "constant";
    for (const double part : {0.1, 5.0, 1e9}) {
      NonlocalMeans problem = image_of_means(type, 27, 22);
      problem.sigma = sigma_of_means(type, part);
      list.add({.problem = problem, .volume = content, .note = note});
      problem.channels = 3;
      problem.patch = {16, 32, 1};  // the largest sums of squares
      list.add({.problem = problem, .volume = content, .note = note});
    }
  }
}

/// NaN, infinities, scales at both ends of the exponents.
void add_floats(MeansCaseList& list) {
  const NonlocalMeans problem = volume_of_means(DataType::float32);
  const std::int64_t middle = (6 * problem.size.y + 7) * problem.size.x + 9;
  const auto infinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    const std::string name = value != value ? "nan" : value > 0 ? "inf" : "minf";
    for (const double sigma : {0.1, 1e10}) {
      NonlocalMeans planted = problem;
      planted.sigma = sigma;
      list.add({.problem = planted, .plants = {{middle, value}, {0, value}, {middle + 2, value}}, .note = name});
      planted.channels = 3;
      list.add({.problem = planted,
                .plants = {{middle, value}, {0, value}, {middle + 2 + problem.size.product(), value}},
                .note = name});
    }
    std::vector<std::pair<std::int64_t, float>> everywhere;
    for (std::int64_t i = 0; i < problem.size.product(); ++i) everywhere.emplace_back(i, value);
    list.add({.problem = problem, .plants = std::move(everywhere), .note = name + "_everywhere"});
  }
  constexpr float kLargest = std::numeric_limits<float>::max();
  list.add({.problem = problem, .plants = {{middle, kLargest}, {middle + 40, -kLargest}}, .note = "largest"});
  std::vector<std::pair<std::int64_t, float>> everywhere;
  for (std::int64_t i = 0; i < problem.size.product(); ++i)
    everywhere.emplace_back(i, i % 2 == 0 ? kLargest : -kLargest);
  list.add({.problem = problem, .plants = std::move(everywhere), .note = "largest_everywhere"});
  NonlocalMeans dark = problem;
  for (const float factor : {0.0F, 1e-44F, 1e-36F, 1e-12F, 1e12F, 1e30F, 3.4e38F, -3.4e38F}) {
    dark.sigma = factor == 0 ? 1 : 0.1 * std::abs(static_cast<double>(factor));
    list.add({.problem = dark, .factor = factor, .note = factor == 0 ? "zeros" : factor < 0 ? "below_zero" : ""});
  }
}

void add_slow(MeansCaseList& list, DataType type) {
  NonlocalMeans problem{.size = {101, 83, 1}, .sigma = sigma_of_means(type, 0.1), .type = type};
  list.add({.problem = problem, .purpose = Purpose::slow});
  problem.channels = 3;
  list.add({.problem = problem, .purpose = Purpose::slow});
  list.add(
      {.problem = {.size = {33, 29, 25}, .sigma = sigma_of_means(type, 0.05), .type = type}, .purpose = Purpose::slow});
  // So many candidates, all of weight 1, that sums pass what a double holds.
  NonlocalMeans all{.size = {160, 140, 1}, .sigma = sigma_of_means(type, 1e9), .patch = {1, 1, 1}, .type = type};
  all.window = {400, 400, 1};
  list.add({.problem = all, .purpose = Purpose::slow, .volume = MeansVolumeContent::ends, .note = "all"});
}

/// The sizes at which speed and quality are compared with other people's programs.
void add_benchmarks(MeansCaseList& list) {
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    NonlocalMeans problem{.size = {512, 512, 1}, .sigma = sigma_of_means(type, 0.1), .type = type};
    list.add({.problem = problem, .purpose = Purpose::benchmark});
    problem.size = {64, 64, 64};
    list.add({.problem = problem, .purpose = Purpose::benchmark});
  }
  list.add({.problem = {.size = {512, 512, 1}, .channels = 3, .sigma = 25, .type = DataType::uint8},
            .purpose = Purpose::benchmark});
}

}  // namespace

ProblemSet nonlocal_means_problem_set() {
  ProblemSet set{.operator_name = std::string(NonlocalMeans::kName), .cases = {}, .make_case = nonlocal_means_case_of};
  MeansCaseList list(set.cases);
  for (const DataType type : {DataType::uint8, DataType::uint16, DataType::float32}) {
    add_shapes(list, type);
    add_parameters(list, type);
    add_values(list, type);
    add_slow(list, type);
  }
  add_floats(list);
  add_benchmarks(list);
  return set;
}

}  // namespace tessera::conformance
