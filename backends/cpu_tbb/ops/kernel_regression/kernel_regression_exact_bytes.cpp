// The variant "exact_bytes": images as they are. Squared distances are whole numbers, from products of bytes in the
// register tile of kernel_regression_bytes_kernel.cpp; the pass over the training set is that of "fused", whose picture
// is in kernel_regression_fused.cpp.
//
// A training row is stored once as words (bytes where the processor multiplies them, less 128), in slivers as wide as
// the tile, and its squared length beside it. With shift s a product is q t = q (t - s) + s sum(q).
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/cnn_layer/cnn_layer_panels.h"
#include "ops/kernel_regression/kernel_regression_bytes_kernel.h"
#include "ops/kernel_regression/kernel_regression_bytes_meeting.h"
#include "ops/kernel_regression/kernel_regression_rounds.h"
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

/// Queries of a group, as far as whole panels go: their bytes stay in the second-level cache, 430 KB for 784 columns,
/// beside a part of training rows and the next one, 210 KB each. A training set passes by once a group: with AMX and
/// smaller groups memory is what takes the time.
constexpr std::int64_t kMostGroup = 512, kLeastGroup = 128;

/// The memory of one thread, in words: what a group's queries know of a block, of a panel of them products.
class Workspace {
 public:
  Workspace(ScratchPool& pool, const ByteTile& tile, std::int64_t group)
      : loan_(pool, static_cast<std::size_t>(words(tile, group)) * sizeof(std::int32_t)) {
    dots = reinterpret_cast<std::int32_t*>(loan_.data());
    lists = dots + tile.rows * kRegressionPart;
    weights = reinterpret_cast<float*>(lists + BytesNear::kListWords * group);
    near = reinterpret_cast<BytesNear*>(weights + BytesNear::kPlaces + kByteListSlack);
  }
  std::int32_t* dots;
  std::int32_t* lists;
  float* weights;
  BytesNear* near;

 private:
  static std::int64_t words(const ByteTile& tile, std::int64_t group) noexcept {
    constexpr auto kNearWords = static_cast<std::int64_t>(sizeof(BytesNear) / sizeof(std::int32_t));
    return (BytesNear::kListWords + kNearWords) * group + tile.rows * kRegressionPart + BytesNear::kPlaces +
           kByteListSlack;
  }

  ScratchPool::Loan loan_;
};

class BytesRegression {
 public:
  using Word = std::int32_t;
  using Queries = PackedQueries<std::int32_t>;

  explicit BytesRegression(const KernelRegression& problem)
      : problem_(problem),
        tile_(byte_tile()),
        depth_(mathematics::ceil_div(problem.columns, tile_.numbers * tile_.depth_step) * tile_.depth_step),
        padded_rows_(mathematics::ceil_div(problem.training_rows, kRegressionPart) * kRegressionPart),
        meeting_(problem) {}

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
    regress_in_rounds(executor, regression, meeting_.weight_of(), *this);
  }

  [[nodiscard]] static std::int64_t block_rows() noexcept { return mathematics::kMostRegressionBlockRows; }
  static constexpr std::int64_t kChunks = 16;
  [[nodiscard]] std::int64_t group() const noexcept { return kMostGroup / tile_.rows * tile_.rows; }
  [[nodiscard]] std::int64_t least_group() const noexcept { return kLeastGroup / tile_.rows * tile_.rows; }
  [[nodiscard]] Workspace workspace(ScratchPool& pool) const { return {pool, tile_, group()}; }

  [[nodiscard]] std::int64_t query_words() const noexcept { return depth_; }
  void pack_query(const RegressionOperands<std::uint8_t>& regression, std::int64_t query, const Queries& to,
                  std::int64_t i) const noexcept {
    const std::uint8_t* const numbers = regression.queries + query * problem_.columns;
    std::int32_t sum = 0;  // of at most kMostColumns numbers
    for (std::int64_t j = 0; j < problem_.columns; ++j) sum += numbers[j];
    pack_words(numbers, to.numbers + i * depth_);
    // What is missing of each product is the same for all rows.
    to.lengths[i] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(squared_length(numbers, problem_.columns)) -
                                  2 * static_cast<std::uint32_t>(byte_shift(tile_)) * static_cast<std::uint32_t>(sum));
  }

  void begin_block(const Workspace& workspace, std::int64_t queries) const noexcept {
    std::fill_n(workspace.near, queries, BytesNear{});
  }

  template <class State>
  void meet_part(const RegressionOperands<std::uint8_t>& regression, const Workspace& workspace,
                 const RegressionPart& part, const Queries& queries, const State& state) const {
    const auto* const prepared = reinterpret_cast<const std::int32_t*>(regression.training);
    const auto panels = EqualParts::of_at_most(queries.count, tile_.rows);
    // The next part, while there is one: each panel fetches its share.
    const std::int64_t next_row = part.first + kRegressionPart;
    const EqualParts next{.whole = next_row < padded_rows_ ? kRegressionPart * depth_ : 0, .parts = panels.parts};
    for (std::int64_t panel = 0; panel < panels.parts; ++panel) {
      multiply_bytes({.a = queries.numbers + panels.first(panel) * depth_,
                      .a_step = depth_,
                      .b = prepared + part.first * depth_,
                      .c = workspace.dots,
                      .ldc = kRegressionPart,
                      .rows = panels.size(panel),
                      .columns = kRegressionPart,
                      .depth = depth_,
                      .numbers = tile_.numbers,
                      .next = prepared + next_row * depth_ + next.first(panel),
                      .next_words = next.size(panel)});
      for (std::int64_t i = 0; i < panels.size(panel); ++i) {
        const std::int64_t query = panels.first(panel) + i;
        const bool is_full = meeting_.meet({.dots = workspace.dots + i * kRegressionPart,
                                            .lengths = prepared + padded_rows_ * depth_ + part.first,
                                            .query_length = queries.lengths[query],
                                            .count = part.count,
                                            .first = static_cast<std::int32_t>(part.first - part.block)},
                                           list(workspace, query), workspace.near[query]);
        if (is_full) add_listed(regression, workspace, query, part.block, state(query));
      }
    }
  }
  template <class State>
  void end_block(const RegressionOperands<std::uint8_t>& regression, const Workspace& workspace, std::int64_t block_row,
                 std::int64_t queries, const State& state) const {
    for (std::int64_t query = 0; query < queries; ++query) {
      add_listed(regression, workspace, query, block_row, state(query));
    }
  }

 private:
  [[nodiscard]] std::int32_t word(const std::uint8_t* row, std::int64_t p, std::int64_t shift) const noexcept {
    const std::int64_t first = p * tile_.numbers;
    return byte_word(tile_, row + first, std::min(tile_.numbers, problem_.columns - first), shift);
  }

  void pack_words(const std::uint8_t* numbers, std::int32_t* words) const noexcept {
    if (tile_.numbers == sizeof(std::int32_t) && std::endian::native == std::endian::little) {
      // Its words are its bytes.
      std::fill_n(words + problem_.columns / tile_.numbers, depth_ - problem_.columns / tile_.numbers, 0);
      std::memcpy(words, numbers, static_cast<std::size_t>(problem_.columns));
      return;
    }
    for (std::int64_t p = 0; p < depth_; ++p) words[p] = word(numbers, p, 0);
  }
  [[nodiscard]] static std::int32_t* list(const Workspace& workspace, std::int64_t query) noexcept {
    return workspace.lists + query * BytesNear::kListWords;
  }
  void add_listed(const RegressionOperands<std::uint8_t>& regression, const Workspace& workspace, std::int64_t query,
                  std::int64_t block_row, const RegressionState& state) const {
    meeting_.add_listed(regression, list(workspace, query), block_row, workspace.near[query], state, workspace.weights);
  }

  KernelRegression problem_;
  ByteTile tile_;
  std::int64_t depth_;
  std::int64_t padded_rows_;
  BytesMeeting meeting_;
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
