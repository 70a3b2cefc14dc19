// What the host code of every way to march shares: the checks, the rows of a run, the weights, and the launch of a
// work-item that marches alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mathematics/conv2d_filter.h"
#include "ops/conv2d/conv2d_images.h"

namespace tessera::opencl {

/// Can the device march over the problem, with a filter that is used whole, or as a column times a row?
[[nodiscard]] backend::Verdict check_march(const Conv2d& problem, const backend::Device& device, bool is_separable);

[[nodiscard]] bool is_gpu(const backend::Device& device);

/// The tunable rows_per_run. `columns`: of the strip that is preferred on this device, one for each group.
[[nodiscard]] Tunable rows_per_run(const Conv2d& problem, const backend::Device& device, std::int64_t columns,
                                   bool is_separable);

/// Weights of a filter as the kernels hold them: row by row; for a separable filter its column, then its row.
struct MarchWeights {
  std::vector<double> values;
  bool is_separable = false;

  /// Those of the filter, or, if it is to be separable, of its column and its row.
  [[nodiscard]] static MarchWeights of(const Conv2d& problem, bool is_separable);
  /// The options of the programs that depend on it.
  [[nodiscard]] std::string options(const Conv2d& problem) const;
};

/// The row of a way to march, for filters used whole or, with `is_separable`, for those that are a column times a row.
/// `March` has what the row needs as functions that are told which: check, tunables and make.
template <class March, bool is_separable>
[[nodiscard]] backend::Variant<Conv2d> march_variant(std::string_view name, std::string_view summary,
                                                     backend::Verdict (*pays)(const Conv2d&,
                                                                              const backend::Device&) = nullptr) {
  return {.name = name,
          .summary = summary,
          .check = [](const Conv2d& problem,
                      const backend::Device& device) { return March::check(problem, device, is_separable); },
          .tunables = [](const Conv2d& problem,
                         const backend::Device& device) { return March::tunables(problem, device, is_separable); },
          .make = [](const Conv2d& problem, backend::Device& device,
                     const Tuning& tuning) { return March::make(problem, device, tuning, is_separable); },
          .error_factor_of =
              [](const Conv2d& problem, const backend::Device&) {
                return is_separable ? mathematics::separable_error_factor(problem) : 1.0;
              },
          .pays = pays};
}

/// A kernel of a work-item alone, which takes the weights by value: its text, its options, and what
/// it sums in.
struct MarchAlone {
  std::string name;
  std::string_view text;
  std::string options;
  Conv2dSums sums = Conv2dSums::output_type;
};

/// `strip`: columns of the output that the work-item computes.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_march_alone(const MarchAlone& march, const Conv2d& problem,
                                                                const OpenclDevice& device, const MarchWeights& weights,
                                                                std::int64_t strip, std::int64_t rows);

}  // namespace tessera::opencl
