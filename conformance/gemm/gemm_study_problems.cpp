// The cases of gemm's study: the shapes that a published comparison of four kernels on a Tesla K40c used, squares for
// the cost of the way to the device and back, and squares for errors beside speeds. Ascending work within each part, so
// that what a small case took predicts the next ones.
#include "conformance/gemm/gemm_problems.h"

#include <algorithm>
#include <span>
#include <string>

#include "conformance/gemm/gemm_case.h"

namespace tessera::conformance {

namespace {

constexpr std::int64_t kShapeSides[] = {256, 512, 1024, 2048};
constexpr std::int64_t kTransferSides[] = {32,  64,   96,   128,  192,  256,  384, 512,
                                           768, 1024, 1536, 2048, 3072, 4096, 6144};
// The second one divides by no tile.
constexpr std::int64_t kQuickShapeSides[] = {16, 37};
constexpr std::int64_t kQuickTransferSides[] = {16, 64};
constexpr std::int64_t kPrecisionSides[] = {256, 512, 1024, 2048, 4096, 8192};

void add_case(std::vector<std::unique_ptr<Case>>& cases, const Gemm& problem, Purpose purpose, std::string_view part,
              bool every_tuning, Values values = Values::symmetric) {
  cases.push_back(make_gemm_case({.problem = problem,
                                  .purpose = purpose,
                                  .values = values,
                                  .note = std::string(part) + (values == Values::positive ? "_positive" : "") +
                                          (purpose == Purpose::quick_study ? "_quick" : ""),
                                  .every_tuning = every_tuning,
                                  .part = part}));
}

/// All combinations of the sides; every tuning value is tried on the largest.
void add_shapes(std::vector<std::unique_ptr<Case>>& cases, std::span<const std::int64_t> sides, Purpose purpose) {
  std::vector<Gemm> shapes;
  for (const std::int64_t m : sides) {
    for (const std::int64_t n : sides) {
      for (const std::int64_t k : sides) shapes.push_back({.m = m, .n = n, .k = k});
    }
  }
  const auto products = [](const Gemm& shape) { return shape.m * shape.n * shape.k; };
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const Gemm& left, const Gemm& right) { return products(left) < products(right); });
  for (const Gemm& shape : shapes) add_case(cases, shape, purpose, kGemmStudyShapes, shape == shapes.back());
}

void add_transfers(std::vector<std::unique_ptr<Case>>& cases, std::span<const std::int64_t> sides, Purpose purpose) {
  for (const std::int64_t side : sides) {
    add_case(cases, {.m = side, .n = side, .k = side}, purpose, kGemmStudyTransfers, false);
  }
}

void add_blocks(std::vector<std::unique_ptr<Case>>& cases, std::int64_t side, Purpose purpose) {
  add_case(cases, {.m = side, .n = side, .k = side}, purpose, kGemmStudyBlocks, true);
}

void add_precision(std::vector<std::unique_ptr<Case>>& cases, std::span<const std::int64_t> sides, Purpose purpose) {
  for (const std::int64_t side : sides) {
    for (const Values values : {Values::symmetric, Values::positive}) {
      for (const Accuracy accuracy : {Accuracy::accurate, Accuracy::fast}) {
        const Gemm problem{.m = side, .n = side, .k = side, .accuracy = accuracy};
        add_case(cases, problem, purpose, kGemmStudyPrecision, false, values);
      }
    }
  }
}

}  // namespace

void add_gemm_study(std::vector<std::unique_ptr<Case>>& cases) {
  add_shapes(cases, kShapeSides, Purpose::study);
  add_transfers(cases, kTransferSides, Purpose::study);
  add_blocks(cases, kShapeSides[std::size(kShapeSides) - 1], Purpose::study);
  add_precision(cases, kPrecisionSides, Purpose::study);
  add_shapes(cases, kQuickShapeSides, Purpose::quick_study);
  add_transfers(cases, kQuickTransferSides, Purpose::quick_study);
  add_blocks(cases, kQuickShapeSides[std::size(kQuickShapeSides) - 1], Purpose::quick_study);
  add_precision(cases, kQuickShapeSides, Purpose::quick_study);
}

}  // namespace tessera::conformance
