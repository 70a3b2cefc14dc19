// Widths straddle where the edges of 64 columns and the vectors between them begin and end; heights are more than one
// run of 64 rows. int32 images hold small values, which float arithmetic computes exactly, but for a few in some
// places.
#include "conformance/conv2d/conv2d_problems.h"

#include <string>
#include <utility>

#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_filters.h"

namespace tessera::conformance {

namespace {

/// Of 3 x 3 weights of 1, this times 9 is the last sum that float holds exactly with all those below it.
constexpr std::int32_t kLargestOfNine = (1 << 24) / 9;

void add(std::vector<std::unique_ptr<Case>>& cases, Conv2dSpec spec, const std::string& note) {
  spec.note = note.empty() ? "wide" : "wide_" + note;
  if (spec.problem.type == DataType::int32 && spec.largest == 0) spec.largest = 1000;
  cases.push_back(make_conv2d_case(std::move(spec)));
}

void add_shapes(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  for (const std::int64_t width : {192, 193, 195, 255, 258, 321}) {
    add(cases, {.problem = conv2d_of(type, {9, width}, {5, 5})}, "");
  }
  for (const FilterSize& filter : {FilterSize{3, 3}, FilterSize{7, 7}, FilterSize{4, 6}, FilterSize{9, 9}}) {
    for (const Border border : {Border::same, Border::valid}) {
      add(cases, {.problem = conv2d_of(type, {75, 333}, filter, border)}, "");
    }
    Conv2d separable = conv2d_of(type, {75, 333}, filter);
    separable.filter = rank_one_filter(type, filter);
    add(cases, {.problem = separable}, "rank1");
  }
  add(cases, {.problem = conv2d_of(type, {66, 300}, {63, 63})}, "");
  Conv2d corner = conv2d_of(type, {17, 300}, {5, 6});
  corner.anchor_y = 4;
  corner.anchor_x = 0;
  add(cases, {.problem = corner, .misalignment = 1}, "");
  corner.anchor_x = 5;
  corner.flip = true;
  corner.batch = 2;
  add(cases, {.problem = corner}, "");
  add(cases, {.problem = conv2d_of(type, {3, 8300}, {3, 3})}, "");
}

/// A pixel that is too large for float at either edge, between them, in the first and last rows, and just not too
/// large.
void add_large_pixels(std::vector<std::unique_ptr<Case>>& cases) {
  for (const bool is_rank_one : {false, true}) {
    Conv2d problem = conv2d_of(DataType::int32, {150, 333}, {3, 3});
    if (is_rank_one) {
      problem.filter.assign(9, 1);
    } else {
      problem.filter = {1, 1, 1, -1, 1, 1, 1, 1, -1};
    }
    const std::string rank = is_rank_one ? "rank1_" : "";
    const auto planted = [&](std::int64_t y, std::int64_t x, double value, const std::string& note) {
      add(cases, {.problem = problem, .largest = kLargestOfNine, .plants = {{0, y, x, value}}}, rank + note);
    };
    for (const std::int64_t x : {0, 63, 64, 150, 255, 256, 257, 332}) {
      planted(89, x, kLargestOfNine + 1, "large_x" + std::to_string(x));
    }
    planted(0, 100, INT32_MIN, "large_y0");
    planted(149, 200, INT32_MAX, "large_y149");
    planted(70, 200, -kLargestOfNine - 1, "large_negative");
    planted(70, 200, -kLargestOfNine, "just_small");
  }
}

}  // namespace

void add_wide_conv2d(std::vector<std::unique_ptr<Case>>& cases, DataType type) {
  add_shapes(cases, type);
  if (type == DataType::int32) add_large_pixels(cases);
}

}  // namespace tessera::conformance
