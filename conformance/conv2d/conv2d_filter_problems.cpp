// Filters past 7 x 7: sizes that change how a filter is cut into segments of 8 weights and bands of 16 rows, filters
// that are no squares, anchors away from the centre, images smaller than the filter, more rows than any run has.
#include "conformance/conv2d/conv2d_problems.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_filters.h"

namespace tessera::conformance {

namespace {

class Filters {
 public:
  Filters(std::vector<std::unique_ptr<Case>>& cases, DataType type) : cases_(cases), type_(type) {}

  /// The problem with a filter of full rank and with one of rank 1.
  void add_both(Conv2d problem, std::size_t misalignment = 0, bool every_tuning = false) {
    add({.problem = problem, .misalignment = misalignment, .every_tuning = every_tuning});
    problem.filter = rank_one_filter(type_, {problem.filter_height, problem.filter_width});
    add({.problem = std::move(problem), .note = "rank1", .misalignment = misalignment, .every_tuning = every_tuning});
  }
  void add(Conv2dSpec spec) {
    spec.note = spec.note.empty() ? "filters" : "filters_" + spec.note;
    cases_.push_back(make_conv2d_case(std::move(spec)));
  }
  [[nodiscard]] Conv2d of(const ImageSize& image, const FilterSize& filter, Border border = Border::same) const {
    return conv2d_of(type_, image, filter, border);
  }
  [[nodiscard]] DataType type() const { return type_; }
  /// Of the types that differ from int32 in how pixels are loaded alone, some cases are enough.
  [[nodiscard]] bool is_small() const { return type_ == DataType::uint8 || type_ == DataType::int16; }

 private:
  std::vector<std::unique_ptr<Case>>& cases_;
  DataType type_;
};

void add_sizes(Filters& filters) {
  for (std::int64_t size = 8; size <= 25; ++size) {
    // Every size in one type; in the others those around which segments and bands end.
    const bool is_edge = size == 9 || size == 16 || size == 17 || size == 25;
    if (filters.type() == DataType::float32 || is_edge) filters.add_both(filters.of({37, 141}, {size, size}));
  }
  filters.add_both(filters.of({33, 150}, {17, 10}), 0, true);
  if (filters.is_small()) return;
  for (const FilterSize& filter : {FilterSize{8, 25}, FilterSize{25, 8}, FilterSize{1, 31}, FilterSize{31, 1},
                                   FilterSize{33, 2}, FilterSize{2, 33}, FilterSize{9, 34}}) {
    filters.add_both(filters.of({34, 131}, filter));
  }
  filters.add_both(filters.of({40, 150}, {11, 9}, Border::valid), 1);
}

void add_anchors(Filters& filters) {
  if (filters.is_small()) return;
  for (const auto& [anchor_y, anchor_x] : {std::pair<std::int64_t, std::int64_t>{0, 11}, {8, 0}, {3, 7}}) {
    Conv2d problem = filters.of({21, 133}, {9, 12});
    problem.anchor_y = anchor_y;
    problem.anchor_x = anchor_x;
    filters.add_both(problem);
    problem.flip = true;
    filters.add_both(problem, 3);
  }
}

/// Smaller than the filter, a single row or column, just the filter's size, and more rows than any run.
void add_images(Filters& filters) {
  filters.add_both(filters.of({530, 21}, {10, 9}), 0, true);
  if (filters.is_small()) return;
  for (const ImageSize& image : {ImageSize{1, 1}, ImageSize{6, 5}, ImageSize{1, 200}, ImageSize{140, 1}}) {
    filters.add_both(filters.of(image, {9, 9}));
  }
  filters.add_both(filters.of({3, 270}, {25, 25}));
  filters.add_both(filters.of({25, 19}, {25, 19}, Border::valid));
}

void add_batches(Filters& filters) {
  Conv2d problem = filters.of({19, 150}, {11, 11});
  problem.batch = 3;
  filters.add_both(problem, 1);
  problem = filters.of({35, 13}, {8, 9}, Border::valid);
  problem.batch = 5;
  filters.add_both(problem);
}

/// Weights at the ends of int32, and a row of large ones times a column of small ones: sums wrap around in either pass.
void add_extremes(Filters& filters) {
  if (filters.type() == DataType::float32) return;
  Conv2d problem = filters.of({23, 71}, {9, 11});
  constexpr std::array<double, 5> kEnds{INT32_MIN, INT32_MAX, -1, 0, 1 << 30};
  for (std::size_t i = 0; i < problem.filter.size(); ++i) problem.filter[i] = kEnds[random_below(5, 8, i)];
  filters.add({.problem = problem, .note = "wraps"});
  problem.filter = rank_one_filter(filters.type(), {9, 11});
  for (double& weight : problem.filter) weight *= 1 << 26;
  filters.add({.problem = problem, .note = "wraps_rank1"});
}

/// Infinities and NaN reach exactly the outputs whose filter covers them.
void add_special(Filters& filters) {
  if (filters.type() != DataType::float32) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const FilterSize& filter : {FilterSize{9, 9}, FilterSize{10, 17}}) {
    for (const bool is_rank_one : {false, true}) {
      Conv2d problem = filters.of({44, 150}, filter);
      if (is_rank_one) problem.filter = rank_one_filter(DataType::float32, filter);
      if (!is_rank_one) problem.filter[1] = 0;
      const std::string rank = is_rank_one ? "_rank1" : "";
      filters.add({.problem = problem,
                   .plants = {{0, 0, 0, kNan}, {0, 12, 31, kNan}, {0, 43, 149, kNan}},
                   .note = "nan" + rank});
      filters.add({.problem = problem,
                   .values = Values::positive,
                   .plants = {{0, 3, 16, kInfinity}, {0, 33, 132, -kInfinity}},
                   .note = "inf" + rank});
    }
  }
}

}  // namespace

void add_conv2d_filters(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  Filters filters(cases, type);
  add_sizes(filters);
  add_anchors(filters);
  add_images(filters);
  add_batches(filters);
  add_extremes(filters);
  add_special(filters);
}

}  // namespace tessera::conformance
