// The cases of conv2d's study: the images and filters of a published comparison of three versions on a CPU and two on a
// GPU (int32, squares of 64 to 4096, filters of 3 x 3 to 7 x 7), and what a library is asked beside them: float, and
// filters of rank 1. Ascending work within each part, so that what a small case took predicts the next ones.
#include "conformance/conv2d/conv2d_problems.h"

#include <algorithm>
#include <span>
#include <string>

#include "conformance/conv2d/conv2d_case.h"
#include "conformance/conv2d/conv2d_filters.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kSides[] = {64, 128, 256, 512, 1024, 2048, 4096};
constexpr std::int64_t kFilterSides[] = {3, 5, 7};
// The second one divides by no tile.
constexpr std::int64_t kQuickSides[] = {16, 37};

struct StudyPart {
  Purpose purpose;
  std::string_view part;
};

void add_case(std::vector<std::unique_ptr<Case>>& cases, const Conv2d& problem, const StudyPart& part,
              const std::string& kind, bool every_tuning) {
  const std::string quick = part.purpose == Purpose::quick_study ? "_quick" : "";
  cases.push_back(make_conv2d_case({.problem = problem,
                                    .purpose = part.purpose,
                                    .note = kind + "study" + quick,
                                    .every_tuning = every_tuning,
                                    .part = part.part}));
}

/// Every size with every filter; tuning values are tried on the largest image.
void add_sizes(std::vector<std::unique_ptr<Case>>& cases, std::span<const std::int64_t> sides, Purpose purpose) {
  for (const std::int64_t side : sides) {
    for (const std::int64_t filter : kFilterSides) {
      add_case(cases, conv2d_of(DataType::int32, {side, side}, {filter, filter}), {purpose, kConv2dStudySizes}, "",
               side == sides.back());
    }
  }
}

/// Tuning values are tried with the largest filter in float.
void add_types(std::vector<std::unique_ptr<Case>>& cases, std::int64_t side, Purpose purpose) {
  for (const std::int64_t filter : kFilterSides) {
    add_case(cases, conv2d_of(DataType::float32, {side, side}, {filter, filter}), {purpose, kConv2dStudyTypes}, "",
             filter == kConv2dStudyLargestFilter);
  }
  for (const DataType type : {DataType::int32, DataType::float32}) {
    for (const std::int64_t filter : kFilterSides) {
      Conv2d separable = conv2d_of(type, {side, side}, {filter, filter});
      separable.filter = rank_one_filter(type, {filter, filter});
      add_case(cases, separable, {purpose, kConv2dStudyTypes}, "rank1_", false);
    }
  }
}

/// Blocks and directions are tried with the smallest and the largest filter.
void add_blocks(std::vector<std::unique_ptr<Case>>& cases, std::int64_t side, Purpose purpose) {
  for (const std::int64_t filter : {kFilterSides[0], kConv2dStudyLargestFilter}) {
    add_case(cases, conv2d_of(DataType::int32, {side, side}, {filter, filter}), {purpose, kConv2dStudyBlocks},
             "blocks_", true);
  }
}

/// The published curves over threads: no pixel outside of the image is asked for.
void add_curves(std::vector<std::unique_ptr<Case>>& cases, std::span<const std::int64_t> sides, Purpose purpose) {
  for (const std::int64_t side : sides) {
    Conv2d valid = conv2d_of(DataType::int32, {side, side}, {kFilterSides[0], kFilterSides[0]});
    valid.border = Border::valid;
    add_case(cases, valid, {purpose, kConv2dStudyCurves}, "curves_", false);
  }
}

}  // namespace

void add_conv2d_study(std::vector<std::unique_ptr<Case>>& cases) {
  add_sizes(cases, kSides, Purpose::study);
  add_types(cases, kSides[std::size(kSides) - 1], Purpose::study);
  add_blocks(cases, kSides[std::size(kSides) - 1], Purpose::study);
  add_curves(cases, kSides, Purpose::study);
  add_sizes(cases, kQuickSides, Purpose::quick_study);
  add_types(cases, kQuickSides[std::size(kQuickSides) - 1], Purpose::quick_study);
  add_blocks(cases, kQuickSides[std::size(kQuickSides) - 1], Purpose::quick_study);
  add_curves(cases, kQuickSides, Purpose::quick_study);
}

}  // namespace tessera::conformance
