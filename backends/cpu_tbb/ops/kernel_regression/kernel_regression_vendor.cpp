// The variants "vendor_openblas", "vendor_blis" and "vendor_onednn": distances as products by a library that is opened
// at run time, then the least of them, weights and sums by the vector code that "fused" has. They are yardsticks for
// our own, and stand behind them in the list.
//
//     training rows, centred, row by row           Of up to 2048 queries and 4096 rows at a time the library writes the
//     4096        4096    ...                      products; then each query, on a thread of ours, meets the rows. The
//     +---------+---------+---                     products lie in memory once, in a third of its last-level cache or
//  q  | library | library |                        outside, as they do for whoever computes this with a BLAS.
//     +---------+---------+---
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "backend/sentence.h"
#include "ops/kernel_regression/kernel_regression_meeting.h"
#include "ops/kernel_regression/kernel_regression_rows.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "vendor/cpu_tbb_cblas.h"
#include "vendor/cpu_tbb_onednn_gemm.h"

namespace tessera::cpu_tbb {

namespace {

constexpr std::int64_t kQueries = 2048;
constexpr std::int64_t kRows = 4096;
/// Rows that a query meets at a time, while their distances are in the first-level cache.
constexpr std::int64_t kPart = 256;
/// Columns that a library's integers of 32 bits count.
constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();

/// Products of rows by rows: out(i, j) = a(i) * b(j).
template <class T>
struct RowProducts {
  std::int64_t m = 0, n = 0, columns = 0;
  const T* a = nullptr;
  const T* b = nullptr;
  T* out = nullptr;  ///< m x kRows
};

template <class T, class Library>
class VendorRegression {
 public:
  VendorRegression(const KernelRegression& problem, Library& library)
      : problem_(problem), library_(library), rows_(RegressionRows<T>::row_by_row(problem)), meeting_(problem) {}

  [[nodiscard]] const RegressionRows<T>& rows() const noexcept { return rows_; }

  void compute(Executor& executor, const RegressionOperands<T>& regression) const {
    for (std::int64_t first = 0; first < problem_.queries; first += kQueries)
      compute_round(executor, regression, first, std::min(kQueries, problem_.queries - first));
  }

 private:
  void compute_round(Executor& executor, const RegressionOperands<T>& regression, std::int64_t first,
                     std::int64_t count) const {
    const std::int64_t size = RegressionState::size(problem_);
    const ScratchPool::Loan states(executor.scratch(), static_cast<std::size_t>(count * size) * sizeof(double));
    const ScratchPool::Loan memory(executor.scratch(),
                                   static_cast<std::size_t>(count * (problem_.columns + 1 + kRows)) * sizeof(T));
    T* const queries = reinterpret_cast<T*>(memory.data());
    T* const lengths = queries + count * problem_.columns;
    T* const dots = lengths + count;
    const auto state = [&](std::int64_t query) {
      return RegressionState(problem_, reinterpret_cast<double*>(states.data()) + query * size);
    };
    executor.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t query = begin; query < end; ++query) {
        state(query).begin(regression, first + query);
        lengths[query] = centre(regression, first + query, queries + query * problem_.columns);
      }
    });
    for (std::int64_t row = 0; row < problem_.training_rows; row += kRows) {
      // Rows behind the last are zeros, infinitely far.
      const std::int64_t rows =
          mathematics::ceil_div(std::min(kRows, problem_.training_rows - row), kFoldStep) * kFoldStep;
      multiply(executor, {.m = count,
                          .n = rows,
                          .columns = problem_.columns,
                          .a = queries,
                          .b = rows_.sliver(regression.training, 0, row),
                          .out = dots});
      executor.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
        const ScratchPool::Loan weights(executor.scratch(), kPart * sizeof(T));
        for (std::int64_t query = begin; query < end; ++query) {
          for (std::int64_t part = 0; part < rows; part += kPart) {
            meeting_.meet({.dots = dots + query * kRows + part,
                           .lengths = rows_.lengths(regression.training) + row + part,
                           .weights = reinterpret_cast<T*>(weights.data()),
                           .first = row + part,
                           .count = std::min(kPart, rows - part),
                           .targets = regression.targets},
                          lengths[query], state(query));
          }
        }
      });
    }
    executor.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t query = begin; query < end; ++query) state(query).write(regression, first + query);
    });
  }

  /// Centres a query, and returns its squared length: infinite where it has no part.
  T centre(const RegressionOperands<T>& regression, std::int64_t query, T* centred) const noexcept {
    const T* const numbers = regression.queries + query * problem_.columns;
    const T* const centre = rows_.centre(regression.training);
    if (!regression_row_counts(numbers, problem_.columns)) {
      std::fill_n(centred, problem_.columns, T(0));
      return std::numeric_limits<T>::infinity();
    }
    T length = 0;
    for (std::int64_t j = 0; j < problem_.columns; ++j) {
      centred[j] = numbers[j] - centre[j];
      length += centred[j] * centred[j];
    }
    return length;
  }

  void multiply(Executor& executor, const RowProducts<T>& products) const {
    const auto count = [](std::int64_t number) { return static_cast<int>(number); };
    library_.multiply(executor.threads(), false, true, count(products.m), count(products.n), count(products.columns),
                      T(1), products.a, count(products.columns), products.b, count(products.columns), T(0),
                      products.out, count(kRows));
  }

  KernelRegression problem_;
  Library& library_;
  RegressionRows<T> rows_;
  RegressionMeeting<T> meeting_;
};

template <class T, class Library>
std::unique_ptr<backend::Kernel> make(const KernelRegression& problem, Library& library) {
  const auto vendor = std::make_shared<const VendorRegression<T, Library>>(problem, library);
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes = vendor->rows().size_bytes();
  preparation.prepare = [vendor](Executor& executor, const std::byte* raw, std::byte* prepared) {
    vendor->rows().prepare(executor, reinterpret_cast<const T*>(raw), reinterpret_cast<T*>(prepared));
  };
  return std::make_unique<CpuTbbKernel>(
      [vendor, problem](Executor& executor, OperandAddresses operands) {
        vendor->compute(executor, RegressionOperands<T>(problem, operands));
      },
      std::move(preparation));
}

struct WithOpenBlas {
  static constexpr std::string_view kName = "vendor_openblas";
  static constexpr std::string_view kSummary = "products by OpenBLAS, opened at run time if it is there";
  static constexpr std::string_view kVendor = "OpenBLAS";
  static constexpr bool kHasDouble = true;
  static OpenBlas& library() { return open_blas(); }
};
struct WithBlis {
  static constexpr std::string_view kName = "vendor_blis";
  static constexpr std::string_view kSummary = "products by BLIS, opened at run time if it is there";
  static constexpr std::string_view kVendor = "BLIS";
  static constexpr bool kHasDouble = true;
  static Blis& library() { return blis(); }
};
struct WithOnednn {
  static constexpr std::string_view kName = "vendor_onednn";
  static constexpr std::string_view kSummary = "products by oneDNN, opened at run time if it is there";
  static constexpr std::string_view kVendor = "oneDNN";
  static constexpr bool kHasDouble = false;
  static const OnednnGemm& library() { return onednn_gemm(); }
};

template <class Vendor>
backend::Verdict check(const KernelRegression& problem, const backend::Device&) {
  using backend::sentence;
  using backend::Verdict;
  if (problem.type == DataType::uint8 || (problem.type == DataType::float64 && !Vendor::kHasDouble))
    return Verdict::no(
        sentence("the rows of kernel_regression are ", to_string(problem.type), ", but ", Vendor::kVendor,
                 Vendor::kHasDouble ? " multiplies float32 and float64 alone" : " multiplies float32 alone"));
  if (problem.accuracy == Accuracy::strict)
    return Verdict::no(sentence("the accuracy of kernel_regression is strict, but with ", Vendor::kVendor,
                                " distances are made from lengths and products"));
  if (problem.columns > kMostColumns)
    return Verdict::no(sentence("columns of kernel_regression is ", problem.columns, ", but ", Vendor::kVendor,
                                " takes at most ", kMostColumns));
  return Vendor::library().check();
}

template <class Vendor>
backend::Variant<KernelRegression> row() {
  return {
      .name = Vendor::kName,
      .summary = Vendor::kSummary,
      .check = check<Vendor>,
      .tunables = nullptr,
      .make = [](const KernelRegression& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        if constexpr (Vendor::kHasDouble) {
          if (problem.type == DataType::float64) return make<double>(problem, Vendor::library());
        }
        return make<float>(problem, Vendor::library());
      },
      .error_factor = 2,
  };
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_vendor_openblas() {
  return row<WithOpenBlas>();
}
backend::Variant<KernelRegression> kernel_regression_vendor_blis() {
  return row<WithBlis>();
}
backend::Variant<KernelRegression> kernel_regression_vendor_onednn() {
  return row<WithOnednn>();
}

}  // namespace tessera::cpu_tbb
