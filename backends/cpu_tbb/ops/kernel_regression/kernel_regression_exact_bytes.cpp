// The variant "exact_bytes": images as they are. Squared distances are whole numbers, from products of bytes in the
// register tile of kernel_regression_bytes_kernel.cpp; the pass over the training set is that of "fused", whose picture
// is in kernel_regression_fused.cpp.
//
// A training row is stored once as words (bytes where the processor multiplies them, less 128), in slivers as wide as
// the tile, and its squared length beside it. With shift s a product is q t = q (t - s) + s sum(q).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/kernel_regression/kernel_regression_bytes_kernel.h"
#include "ops/kernel_regression/kernel_regression_fold.h"
#include "ops/kernel_regression/kernel_regression_reach.h"
#include "ops/kernel_regression/kernel_regression_rounds.h"
#include "ops/kernel_regression/kernel_regression_state.h"
#include "ops/kernel_regression/kernel_regression_variants.h"

namespace tessera::cpu_tbb {

namespace {

/// Columns up to which every distance is an int32: 255^2 for each.
constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max() / (255 * 255);

std::int32_t squared_length(const std::uint8_t* row, std::int64_t columns) noexcept {
  std::int32_t length = 0;
  for (std::int64_t j = 0; j < columns; ++j) length += std::int32_t{row[j]} * row[j];
  return length;
}

/// The memory of one thread, in words.
class Workspace {
 public:
  Workspace(ScratchPool& pool, std::int64_t depth)
      : loan_(pool, static_cast<std::size_t>((depth + kRegressionPart + 2) * kRegressionGroup + kRegressionPart) *
                        sizeof(std::int32_t)) {
    queries = reinterpret_cast<std::int32_t*>(loan_.data());
    dots = queries + depth * kRegressionGroup;
    lengths = dots + kRegressionGroup * kRegressionPart;
    shifts = lengths + kRegressionGroup;
    weights = reinterpret_cast<float*>(shifts + kRegressionGroup);
  }
  std::int32_t* queries;
  std::int32_t* dots;
  std::int32_t* lengths;
  std::int32_t* shifts;  ///< of each query, the shift times the sum of its numbers
  float* weights;

 private:
  ScratchPool::Loan loan_;
};

class BytesRegression {
 public:
  explicit BytesRegression(const KernelRegression& problem)
      : problem_(problem),
        tile_(byte_tile()),
        depth_(mathematics::ceil_div(problem.columns, tile_.numbers * tile_.depth_step) * tile_.depth_step),
        padded_rows_(mathematics::ceil_div(problem.training_rows, kRegressionBlock) * kRegressionBlock),
        reach_(problem),
        weight_of_(problem) {}

  /// Words of all rows, then their squared lengths.
  [[nodiscard]] std::size_t prepared_bytes() const noexcept {
    return static_cast<std::size_t>(padded_rows_ * (depth_ + 1)) * sizeof(std::int32_t);
  }

  void prepare(Executor& executor, const std::uint8_t* raw, std::int32_t* prepared) const {
    executor.parallel_for(padded_rows_ / tile_.columns, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t sliver = first; sliver < last; ++sliver) {
        for (std::int64_t lane = 0; lane < tile_.columns; ++lane) {
          const std::int64_t row = sliver * tile_.columns + lane;
          const bool exists = row < problem_.training_rows;
          std::int32_t* const words = prepared + sliver * tile_.columns * depth_ + lane;
          const std::uint8_t* const numbers = raw + row * problem_.columns;
          for (std::int64_t p = 0; p < depth_; ++p)
            words[p * tile_.columns] = exists ? word(numbers, p, byte_shift(tile_)) : 0;
          prepared[padded_rows_ * depth_ + row] = exists ? squared_length(numbers, problem_.columns) : 0;
        }
      }
    });
  }

  void compute(Executor& executor, const RegressionOperands<std::uint8_t>& regression) const {
    regress_in_rounds(executor, regression, weight_of_, *this);
  }

  [[nodiscard]] Workspace workspace(ScratchPool& pool) const { return {pool, depth_}; }

  void pack_queries(const RegressionOperands<std::uint8_t>& regression, std::int64_t first, std::int64_t count,
                    const Workspace& workspace) const noexcept {
    for (std::int64_t query = 0; query < count; ++query) {
      const std::uint8_t* const numbers = regression.queries + (first + query) * problem_.columns;
      std::int64_t sum = 0;
      for (std::int64_t j = 0; j < problem_.columns; ++j) sum += numbers[j];
      for (std::int64_t p = 0; p < depth_; ++p) workspace.queries[query * depth_ + p] = word(numbers, p, 0);
      workspace.lengths[query] = squared_length(numbers, problem_.columns);
      workspace.shifts[query] = static_cast<std::int32_t>(byte_shift(tile_) * sum);
    }
  }

  void multiply(const RegressionOperands<std::uint8_t>& regression, const Workspace& workspace, std::int64_t first_row,
                std::int64_t queries) const {
    const auto* const prepared = reinterpret_cast<const std::int32_t*>(regression.training);
    const auto panels = EqualParts::of_at_most(queries, tile_.rows);
    for (std::int64_t panel = 0; panel < panels.parts; ++panel) {
      multiply_bytes({.a = workspace.queries + panels.first(panel) * depth_,
                      .a_step = depth_,
                      .b = prepared + first_row * depth_,
                      .c = workspace.dots + panels.first(panel) * kRegressionPart,
                      .ldc = kRegressionPart,
                      .rows = panels.size(panel),
                      .columns = kRegressionPart,
                      .depth = depth_,
                      .numbers = tile_.numbers});
    }
  }

  void meet_part(const RegressionOperands<std::uint8_t>& regression, const Workspace& workspace, std::int64_t query,
                 std::int64_t first_row, std::int64_t rows, const RegressionState& state) const {
    const auto* const lengths =
        reinterpret_cast<const std::int32_t*>(regression.training) + padded_rows_ * depth_ + first_row;
    std::int32_t* const squared = workspace.dots + query * kRegressionPart;
    // What is missing of each product is the same for all rows.
    const auto length =
        static_cast<std::uint32_t>(workspace.lengths[query]) - 2 * static_cast<std::uint32_t>(workspace.shifts[query]);
    std::int32_t least = fold_byte_distances(squared, lengths, static_cast<std::int32_t>(length), kRegressionPart);
    if (rows < kRegressionPart) {
      std::fill(squared + rows, squared + kRegressionPart, std::numeric_limits<std::int32_t>::max());
      least = *std::min_element(squared, squared + rows);
    }
    if (least < state.least()) {
      const std::int64_t nearest = std::find(squared, squared + rows, least) - squared;
      state.approach(least, first_row + nearest, weight_of_);
    }
    const std::int32_t furthest = furthest_from(state.least());
    if (least > furthest) return;
    fold_byte_weights({.is_euclidean = reach_.is_euclidean(),
                       .factor = reach_.factor(),
                       .least = static_cast<std::int32_t>(state.least()),
                       .furthest = furthest},
                      squared, kRegressionPart, workspace.weights);
    for_each_weight(workspace.weights, rows, [&](std::int64_t i) {
      state.add(static_cast<double>(workspace.weights[i]), regression.targets + (first_row + i) * problem_.outputs);
    });
  }

 private:
  [[nodiscard]] std::int32_t word(const std::uint8_t* row, std::int64_t p, std::int64_t shift) const noexcept {
    const std::int64_t first = p * tile_.numbers;
    return byte_word(tile_, row + first, std::min(tile_.numbers, problem_.columns - first), shift);
  }

  [[nodiscard]] std::int32_t furthest_from(double least) const noexcept {
    return static_cast<std::int32_t>(
        std::min(reach_.beyond(least) + 1, static_cast<double>(std::numeric_limits<std::int32_t>::max())));
  }

  KernelRegression problem_;
  ByteTile tile_;
  std::int64_t depth_;
  std::int64_t padded_rows_;
  RegressionReach<float> reach_;
  mathematics::RegressionWeight<double> weight_of_;
};

}  // namespace

backend::Variant<KernelRegression> kernel_regression_exact_bytes() {
  return {
      .name = "exact_bytes",
      .summary = "whole distances from products of bytes in register tiles, in the widest instructions there are",
      .check =
          [](const KernelRegression& problem, const backend::Device&) {
            using backend::sentence;
            if (problem.type != DataType::uint8)
              return backend::Verdict::no(sentence("the type of kernel_regression is ", to_string(problem.type),
                                                   ", but exact_bytes takes uint8 alone"));
            if (problem.columns > kMostColumns)
              return backend::Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but up to ",
                                                   kMostColumns, " a distance of bytes is an int32"));
            return backend::Verdict::yes();
          },
      .tunables = nullptr,
      .make = [](const KernelRegression& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        const auto bytes = std::make_shared<const BytesRegression>(problem);
        CpuTbbKernel::Preparation preparation;
        preparation.size_bytes = bytes->prepared_bytes();
        preparation.prepare = [bytes](Executor& executor, const std::byte* raw, std::byte* prepared) {
          bytes->prepare(executor, reinterpret_cast<const std::uint8_t*>(raw),
                         reinterpret_cast<std::int32_t*>(prepared));
        };
        return std::make_unique<CpuTbbKernel>(
            [bytes, problem](Executor& executor, OperandAddresses operands) {
              if (problem.queries > 0) bytes->compute(executor, RegressionOperands<std::uint8_t>(problem, operands));
            },
            std::move(preparation));
      },
  };
}

}  // namespace tessera::cpu_tbb
