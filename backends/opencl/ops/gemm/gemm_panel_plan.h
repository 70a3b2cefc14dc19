// gemm, register_panels: how a problem is cut into passes whose panels fit the workspace, and what lies where in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/gemm/gemm_oriented.h"
#include "ops/gemm/gemm_split_k.h"

namespace tessera::opencl {

/// What gemm_register_panels.cl leaves open: the tile of C and the elements of a vector.
struct PanelShape {
  std::int64_t work_m;
  std::int64_t work_n;
  std::int64_t width;
};

/// With up to so many rows of C copying B into panels would take longer than reading it as it is.
inline constexpr std::int64_t kFewRowsForPanels = 12;
/// A range of the batch's results that one pair of launches computes.
struct PanelPass {
  std::int64_t product = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  Gemm problem;                          ///< of the range
  std::vector<MemoryArgument> operands;  ///< of the whole problem
};

class PanelPlan {
 public:
  PanelPlan(const Oriented& oriented, const PanelShape& shape, std::int64_t split_k)
      : oriented_(oriented), problem_(oriented.problem), shape_(shape), parts_(cut_k(problem_, split_k, 1)) {
    // Where panels and parts do not fit the workspace together, k is not split.
    if (parts_.count > 1 && parts_.elements + panel_elements(problem_) > most_elements()) {
      parts_ = cut_k(problem_, 1, 1);
    }
    largest_ = problem_;
    if (parts_.count == 1) shrink_to_workspace();
  }

  [[nodiscard]] const KParts& parts() const noexcept { return parts_; }
  [[nodiscard]] std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(panel_elements(largest_) + parts_.elements) * size_bytes(problem_.type);
  }
  [[nodiscard]] std::int64_t a_elements(const Gemm& pass) const {
    return products(pass, pass.stride_a) * ceil_div(pass.m, shape_.work_m) * shape_.work_m * pass.k;
  }
  [[nodiscard]] std::int64_t b_elements(const Gemm& pass) const {
    return products(pass, pass.stride_b) * b_copied(pass) * shape_.work_n * pass.k;
  }
  /// Where B's panels begin: behind the most that A's take.
  [[nodiscard]] std::int64_t b_first() const { return a_elements(largest_); }
  /// Panels of a product's B that are read as they are stored.
  [[nodiscard]] std::int64_t b_direct(const Gemm& pass) const {
    return !pass.transpose_b && problem_.m <= kFewRowsForPanels ? pass.n / shape_.work_n : 0;
  }
  [[nodiscard]] std::int64_t b_copied(const Gemm& pass) const {
    return ceil_div(pass.n, shape_.work_n) - b_direct(pass);
  }
  /// How many matrices of an operand a pass copies.
  [[nodiscard]] static std::int64_t products(const Gemm& pass, std::int64_t stride) {
    return stride == 0 ? std::min<std::int64_t>(pass.batch, 1) : pass.batch;
  }

  template <class Visit>
  void for_each_pass(Visit visit) const {
    for (std::int64_t product = 0; product < problem_.batch; product += largest_.batch) {
      for (std::int64_t column = 0; column < problem_.n; column += largest_.n) {
        for (std::int64_t row = 0; row < problem_.m; row += largest_.m) {
          PanelPass pass{product, row, column, problem_, oriented_.operands()};
          pass.problem.batch = std::min(largest_.batch, problem_.batch - product);
          pass.problem.n = std::min(largest_.n, problem_.n - column);
          pass.problem.m = std::min(largest_.m, problem_.m - row);
          visit(pass);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t most_elements() const {
    return kMostWorkspaceBytes / static_cast<std::int64_t>(size_bytes(problem_.type));
  }
  [[nodiscard]] std::int64_t panel_elements(const Gemm& pass) const { return a_elements(pass) + b_elements(pass); }

  /// First fewer products, then fewer columns or rows, whichever take more. Columns that are read in place take
  /// nothing, and stay together: a pass may have one copied panel behind them.
  void shrink_to_workspace() {
    const auto halve = [](std::int64_t& length, std::int64_t multiple) {
      length = ceil_div(ceil_div(length, multiple), 2) * multiple;
    };
    while (panel_elements(largest_) > most_elements()) {
      if (largest_.batch > 1) {
        halve(largest_.batch, 1);
      } else if (largest_.m > shape_.work_m &&
                 (a_elements(largest_) > b_elements(largest_) || b_copied(largest_) <= 1)) {
        halve(largest_.m, shape_.work_m);
      } else if (b_copied(largest_) > 1) {
        halve(largest_.n, shape_.work_n);
      } else {
        break;
      }
    }
  }

  Oriented oriented_;
  Gemm problem_;
  PanelShape shape_;
  KParts parts_;
  Gemm largest_;  // of the passes
};

}  // namespace tessera::opencl
