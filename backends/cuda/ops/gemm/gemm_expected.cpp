// A row for each variant with a model. Those by fp16 must be ahead by a margin, since models are off by some percent,
// and where two are alike register serves more problems.
#include "ops/gemm/gemm_expected.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/sentence.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_shallow.h"
#include "ops/gemm/gemm_split_choice.h"
#include "ops/gemm/gemm_split_mma_choice.h"
#include "ops/gemm/gemm_thin.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

struct Expected {
  std::string_view variant;
  double us;
  double margin = 1;

  [[nodiscard]] double with_margin() const { return us * margin; }
};

constexpr double kMargin = 1.04;
/// Of what was never measured on the cards that it is for.
constexpr double kMarginUnmeasured = 1.25;

/// Of the variants by fp16, those that may be a default on this card.
void add_split(std::vector<Expected>& all, const Gemm& problem, GemmSplitKind kind, const DeviceLimits& card) {
  const bool is_split = kind == GemmSplitKind::split;
  if (gemm_split_may_pay(problem, card)) {
    all.push_back({is_split ? "split" : "scaled_half", gemm_split_microseconds(problem, kind, card), kMargin});
  }
  if (gemm_split_mma_may_pay(problem, card)) {
    all.push_back({is_split ? "split_mma" : "scaled_half_mma", gemm_split_mma_microseconds(problem, kind, card),
                   kMarginUnmeasured});
  }
}

std::vector<Expected> expected(const Gemm& problem, const DeviceLimits& card) {
  std::vector<Expected> all{{"register", gemm_register_microseconds(problem, card)}};
  if (gemm_thin_may_pay(problem)) all.push_back({"thin", gemm_thin_microseconds(problem, card)});
  if (problem.k <= kShallowMost) all.push_back({"shallow", gemm_shallow_microseconds(problem, card)});
  if (problem.type == DataType::float32 && problem.accuracy != Accuracy::strict) {
    add_split(all, problem, GemmSplitKind::split, card);
    if (problem.accuracy == Accuracy::fast) add_split(all, problem, GemmSplitKind::scaled_half, card);
  }
  return all;
}

}  // namespace

Verdict gemm_is_fastest(std::string_view variant, const Gemm& problem, const DeviceLimits& card) {
  const std::vector<Expected> all = expected(mathematics::gemm_as_computed(problem), card);
  const auto own = std::find_if(all.begin(), all.end(), [&](const Expected& row) { return row.variant == variant; });
  const auto best = std::min_element(
      all.begin(), all.end(), [](const Expected& a, const Expected& b) { return a.with_margin() < b.with_margin(); });
  if (own == all.end() || own == best) return Verdict::yes();
  return Verdict::no(sentence("it is expected to take ", std::lround(own->us), " us, and ", best->variant, " ",
                              std::lround(best->us), " us"));
}

}  // namespace tessera::cuda
