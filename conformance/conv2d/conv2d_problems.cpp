// The list of conv2d's cases. Widths straddle vectors of 4 to 64 pixels and strips of 128, heights the tiles of 4
// to 32.
#include "conformance/conv2d/conv2d_problems.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_filters.h"
#include "conformance/conv2d/conv2d_huge.h"

namespace tessera::conformance {

namespace {

using Shape = ImageSize;
using Filter = FilterSize;

constexpr std::array kTypes{DataType::int32, DataType::float32, DataType::uint8, DataType::int16};

class CaseList {
 public:
  explicit CaseList(std::vector<std::unique_ptr<Case>>& cases) : cases_(&cases) {}
  void add(Conv2dSpec spec) { cases_->push_back(make_conv2d_case(std::move(spec))); }

 private:
  std::vector<std::unique_ptr<Case>>* cases_;
};

/// Sizes of the image: 1 x N, N x 1, smaller than the filter, one less and one more than vectors and tiles.
void add_shapes(CaseList& list, DataType type) {
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 67}, Shape{67, 1}, Shape{2, 3}, Shape{5, 4}, Shape{3, 700}}) {
    list.add({.problem = conv2d_of(type, shape, {3, 3})});
    list.add({.problem = conv2d_of(type, shape, {7, 5})});
  }
  for (const std::int64_t width : {7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}) {
    list.add({.problem = conv2d_of(type, {width % 13 + 4, width}, {5, 5})});
  }
  for (const std::int64_t height : {15, 16, 17, 31, 32, 33, 65}) {
    list.add({.problem = conv2d_of(type, {height, 41}, {3, 3})});
    list.add({.problem = conv2d_of(type, {height, 37}, {7, 7})});
  }
}

/// Filters of every kind: one weight, one row, one column, even, odd, larger than the image, the largest.
void add_filters(CaseList& list, DataType type) {
  for (const Filter& filter :
       {Filter{1, 1}, Filter{1, 2}, Filter{2, 1}, Filter{2, 2}, Filter{3, 3}, Filter{4, 4}, Filter{5, 5}, Filter{7, 7},
        Filter{1, 9}, Filter{9, 1}, Filter{3, 8}, Filter{6, 5}, Filter{9, 9}, Filter{11, 3}, Filter{15, 15}}) {
    for (const Border border : {Border::same, Border::valid}) {
      list.add({.problem = conv2d_of(type, {35, 53}, filter, border),
                .every_tuning = filter.height == filter.width && filter.width % 2 == 1 && filter.width < 8});
    }
  }
  list.add({.problem = conv2d_of(type, {9, 14}, {31, 33})});
  list.add({.problem = conv2d_of(type, {70, 66}, {63, 63})});
  list.add({.problem = conv2d_of(type, {70, 66}, {63, 63}, Border::valid)});
  list.add({.problem = conv2d_of(type, {7, 5}, {7, 5}, Border::valid)});  // one pixel is left
}

/// Convolution of mathematics, and anchors away from the centre, on filters without symmetry.
void add_anchors(CaseList& list, DataType type) {
  for (const Filter& filter : {Filter{3, 3}, Filter{4, 2}, Filter{5, 6}}) {
    for (const Border border : {Border::same, Border::valid}) {
      Conv2d flipped = conv2d_of(type, {19, 23}, filter, border);
      flipped.flip = true;
      list.add({.problem = flipped});
    }
    Conv2d corner = conv2d_of(type, {19, 23}, filter);
    corner.anchor_y = 0;
    corner.anchor_x = filter.width - 1;
    list.add({.problem = corner});
    corner.flip = true;
    list.add({.problem = corner});
  }
}

void add_batches(CaseList& list, DataType type) {
  for (const std::int64_t batch : {0, 2, 5}) {
    for (const Border border : {Border::same, Border::valid}) {
      Conv2d problem = conv2d_of(type, {13, 37}, {5, 3}, border);
      problem.batch = batch;
      list.add({.problem = problem, .misalignment = batch == 5 ? 1U : 0U});
    }
  }
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
    list.add({.problem = conv2d_of(type, shape, {3, 3})});
  }
}

/// Filters of rank 1, which `separable` takes, and one that is not by a single weight.
void add_ranks(CaseList& list, DataType type) {
  for (const Filter& filter : {Filter{3, 3}, Filter{5, 5}, Filter{7, 7}, Filter{2, 9}, Filter{12, 4}, Filter{31, 31}}) {
    for (const Border border : {Border::same, Border::valid}) {
      Conv2d problem = conv2d_of(type, {45, 77}, filter, border);
      problem.filter = rank_one_filter(type, filter);
      list.add({.problem = problem, .note = "rank1", .every_tuning = filter.height == 7});
    }
  }
  for (const Shape& shape : {Shape{1, 40}, Shape{40, 1}, Shape{2, 2}, Shape{17, 129}, Shape{33, 255}}) {
    Conv2d problem = conv2d_of(type, shape, {7, 7});
    problem.filter = rank_one_filter(type, {7, 7});
    list.add({.problem = problem, .note = "rank1", .misalignment = 1});
  }
  Conv2d almost = conv2d_of(type, {21, 34}, {5, 5});
  almost.filter = rank_one_filter(type, {5, 5});
  almost.filter[13] += 1;
  list.add({.problem = almost, .note = "almost_rank1"});
  Conv2d flipped = conv2d_of(type, {21, 34}, {4, 6});
  flipped.filter = rank_one_filter(type, {4, 6});
  flipped.flip = true;
  flipped.batch = 2;
  list.add({.problem = flipped, .note = "rank1"});
}

/// Weights at the ends of int32 and 0, so that sums wrap around; images hold every value of their type anyway.
void add_extremes(CaseList& list, DataType type) {
  if (type == DataType::float32) return;
  for (const Filter& filter : {Filter{3, 3}, Filter{5, 5}, Filter{7, 7}, Filter{4, 3}}) {
    Conv2d problem = conv2d_of(type, {23, 71}, filter);
    constexpr std::array<double, 5> kEnds{INT32_MIN, INT32_MAX, -1, 0, 1 << 30};
    for (std::size_t i = 0; i < problem.filter.size(); ++i) problem.filter[i] = kEnds[random_below(5, 8, i)];
    list.add({.problem = problem, .note = "wraps"});
  }
  Conv2d ends = conv2d_of(type, {11, 19}, {3, 3});
  ends.filter.assign(9, INT32_MIN);
  ends.filter[4] = INT32_MAX;
  std::vector<Conv2dPlant> plants;
  const bool is_wide = type == DataType::int32;
  for (std::int64_t x = 0; x < 19; ++x) {
    plants.push_back({0, x % 11, x, is_wide ? INT32_MIN : type == DataType::int16 ? INT16_MIN : 255.0});
    plants.push_back({0, (x + 5) % 11, x, is_wide ? INT32_MAX : type == DataType::int16 ? INT16_MAX : 0.0});
  }
  list.add({.problem = ends, .plants = plants, .note = "ends"});
  // The largest sums for which float arithmetic is exact, and the first for which it is not.
  for (const std::int64_t weight : {56, 57, 7310, 7311}) {
    Conv2d edge = conv2d_of(type, {12, 33}, {3, 3});
    edge.filter.assign(9, static_cast<double>(weight));
    list.add({.problem = edge, .note = "sum" + std::to_string(9 * weight)});
  }
}

/// Weights that 16 bits just hold, and the first that they do not; images whose pixels they hold but for two.
void add_halves(CaseList& list, DataType type) {
  if (type == DataType::float32) return;
  for (const Filter& filter : {Filter{3, 3}, Filter{5, 5}, Filter{7, 7}, Filter{4, 3}, Filter{9, 2}}) {
    Conv2d problem = conv2d_of(type, {53, 71}, filter);
    constexpr std::array<double, 4> kEnds{INT16_MIN, INT16_MAX, -1, 0};
    for (std::size_t i = 0; i < problem.filter.size(); ++i) problem.filter[i] = kEnds[random_below(4, 9, i)];
    list.add({.problem = problem, .note = "halves"});
    if (type == DataType::int32) {
      std::vector<Conv2dPlant> plants;
      for (std::int64_t i = 0; i < problem.height * problem.width; ++i) {
        plants.push_back({0, i / problem.width, i % problem.width,
                          static_cast<double>(random_below(65536, 10, static_cast<std::uint64_t>(i))) - 32768});
      }
      list.add({.problem = problem, .plants = plants, .note = "halves_small"});
      plants[static_cast<std::size_t>(14 * problem.width + 70)].value = 32768;
      plants[static_cast<std::size_t>(39 * problem.width)].value = -32769;
      list.add({.problem = problem, .plants = plants, .note = "halves_small_but_two"});
    }
    problem.filter.back() = INT16_MAX + 1;
    list.add({.problem = problem, .note = "halves_and_one"});
  }
}

/// Infinities and NaN reach exactly the outputs whose filter covers them, weights of 0 included.
void add_special(CaseList& list, DataType type) {
  if (type != DataType::float32) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const bool is_rank_one : {false, true}) {
    for (const Filter& filter : {Filter{3, 3}, Filter{5, 5}, Filter{7, 7}, Filter{2, 4}}) {
      Conv2d problem = conv2d_of(type, {24, 50}, filter);
      if (is_rank_one) problem.filter = rank_one_filter(type, filter);
      if (!is_rank_one) problem.filter[1] = 0;
      const std::string rank = is_rank_one ? "_rank1" : "";
      list.add({.problem = problem,
                .plants = {{0, 0, 0, kNan}, {0, 12, 31, kNan}, {0, 23, 49, kNan}},
                .note = "nan" + rank});
      list.add({.problem = problem,
                .values = Values::positive,
                .plants = {{0, 3, 16, kInfinity}, {0, 20, 32, -kInfinity}},
                .note = "inf" + rank});
    }
  }
  for (const auto& [values, note] : {std::pair{Values::positive, "positive"}, std::pair{Values::wide, "wide"}}) {
    for (const Filter& filter : {Filter{5, 5}, Filter{15, 9}}) {
      list.add({.problem = conv2d_of(type, {31, 67}, filter), .values = values, .note = note});
    }
  }
}

/// Operands that do not start at an aligned address.
void add_layouts(CaseList& list, DataType type) {
  for (const std::int64_t size : {3, 5, 7}) {
    for (const std::size_t misalignment : {std::size_t{1}, std::size_t{3}}) {
      list.add({.problem = conv2d_of(type, {20, 132}, {size, size}),
                .note = "by" + std::to_string(misalignment),
                .misalignment = misalignment});
    }
  }
}

void add_slow(CaseList& list, DataType type) {
  list.add({.problem = conv2d_of(type, {517, 1031}, {7, 7}), .purpose = Purpose::slow});
  list.add({.problem = conv2d_of(type, {2, 100003}, {3, 3}), .purpose = Purpose::slow});
  list.add({.problem = conv2d_of(type, {70001, 3}, {5, 5}), .purpose = Purpose::slow});
  Conv2d many = conv2d_of(type, {3, 2}, {3, 3});
  many.batch = 70001;  // more than a grid's third axis takes
  list.add({.problem = many, .purpose = Purpose::slow});
}

void add_benchmarks(CaseList& list) {
  for (const DataType type : {DataType::int32, DataType::float32}) {
    for (const std::int64_t size : {3, 5, 7}) {
      list.add({.problem = conv2d_of(type, {4096, 4096}, {size, size}), .purpose = Purpose::benchmark});
      if (type == DataType::float32) continue;
      list.add({.problem = conv2d_of(type, {4096, 4096}, {size, size}),
                .purpose = Purpose::benchmark,
                .largest = 1000,
                .note = "small"});
    }
    Conv2d separable = conv2d_of(type, {4096, 4096}, {7, 7});
    separable.filter = rank_one_filter(type, {7, 7});
    list.add({.problem = separable, .purpose = Purpose::benchmark, .note = "rank1"});
  }
  list.add({.problem = conv2d_of(DataType::uint8, {4096, 4096}, {5, 5}), .purpose = Purpose::benchmark});
}

}  // namespace

ProblemSet conv2d_problem_set() {
  ProblemSet set{.operator_name = std::string(Conv2d::kName), .cases = {}, .make_case = conv2d_case_of};
  CaseList list(set.cases);
  for (const DataType type : kTypes) {
    add_shapes(list, type);
    add_filters(list, type);
    add_anchors(list, type);
    add_batches(list, type);
    add_ranks(list, type);
    add_extremes(list, type);
    add_halves(list, type);
    add_special(list, type);
    add_layouts(list, type);
    add_slow(list, type);
    add_conv2d_filters(set.cases, type);
  }
  add_wide_conv2d(set.cases, DataType::int32);
  add_wide_conv2d(set.cases, DataType::float32);
  add_benchmarks(list);
  for (const Conv2dFar far : {Conv2dFar::square, Conv2dFar::wide, Conv2dFar::tall, Conv2dFar::batch}) {
    for (const DataType type : {DataType::uint8, DataType::float32}) {
      set.cases.push_back(make_huge_conv2d_case(far, type));
    }
  }
  add_conv2d_study(set.cases);
  return set;
}

}  // namespace tessera::conformance
