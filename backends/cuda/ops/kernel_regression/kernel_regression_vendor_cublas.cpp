// The variant "vendor_cublas" of kernel_regression: products by cuBLAS, if it is there, and everything else by kernels
// of ours. A yardstick for "fused" and "exact_bytes": it stands behind them in the list.
//
//     training rows, packed                    Of a round's queries cuBLAS writes the products with kSlabRows training
//     slab      slab      ...                  rows at a time; then a group for each query and block of rows makes a
//     +---------+---------+---                 state of them (kernel_regression_products.cu). float32 and float64 are
//  q  | cuBLAS  | cuBLAS  |                    multiplied in their type, without TF32; bytes, less 128 so that they
//     +---------+---------+---                 have a sign, by cuBLAS's product of int8 with int32 sums, which is
//                                              exact.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "mathematics/kernel_regression_slab.h"
#include "ops/kernel_regression/kernel_regression_tiles.h"
#include "ops/kernel_regression/kernel_regression_variants.h"
#include "vendor/cuda_cublas.h"

namespace tessera::cuda {
namespace {

constexpr std::int64_t kSlabRows = 16384;
static_assert(kSlabRows % kMostBlockRows == 0);
/// cuBLAS multiplies int8 only where rows begin at multiples of so many bytes.
constexpr std::int64_t kRowBytes = 16;
/// Taken off bytes, so that they are int8.
constexpr int kByteOffset = 128;

std::int64_t slab_rows(const KernelRegression& problem) {
  return std::min(kSlabRows, mathematics::round_up<std::int64_t>(problem.training_rows, kRegressionPadding));
}

constexpr RegressionPacking kPacking{.depth_bytes = kRowBytes, .offset = kByteOffset};

RegressionTilesPlan plan_of(const KernelRegression& problem) {
  const std::size_t product_bytes = problem.type == DataType::float64 ? sizeof(double) : sizeof(float);
  return {problem, kPacking, static_cast<std::size_t>(slab_rows(problem)) * product_bytes};
}

template <class T>
class RegressionVendorCublas final : public RegressionByStates<T> {
 public:
  using Length = typename RegressionPacked<T>::Length;

  RegressionVendorCublas(const std::shared_ptr<Context>& context, const KernelRegression& problem)
      : RegressionByStates<T>(context, problem, plan_of(problem), kPacking),
        handle_(context->companion<CublasHandle>()),
        slab_rows_(slab_rows(problem)),
        products_(context, embedded::kernel_regression_products, regression_function("products", problem.type), {}) {}

  [[nodiscard]] std::size_t workspace_bytes() const override { return cublas_at() + kCublasWorkspaceBytes; }

 private:
  [[nodiscard]] std::size_t cublas_at() const {
    return mathematics::round_up<std::size_t>(this->plan().workspace_bytes(), 256);
  }

  void launch_round(backend::Queue& queue, RegressionTileArguments<T>& arguments,
                    const backend::Slice& workspace) override {
    Length* const products = pointer_at<Length>(workspace, this->plan().products_at());
    for (std::int64_t row = 0; row < arguments.training_rows; row += slab_rows_) {
      const std::int64_t rows = std::min(slab_rows_, this->plan().padded_rows() - row);
      static_cast<CudaQueue&>(queue).submit([&](CUstream stream) {
        const std::lock_guard one_at_a_time(handle_->mutex);
        handle_->use(stream, pointer_at<void>(workspace, cublas_at()));
        for (std::int64_t query = 0; query < arguments.queries_of_round; query += kRegressionProductQueries) {
          cublas_api().check(multiply(arguments, row, rows, query, products + query * slab_rows_), "multiplying");
        }
      });
      RegressionProductArguments<T> meeting{};
      meeting.regression = arguments;
      meeting.products = products;
      meeting.leading = slab_rows_;
      meeting.first_block = row / arguments.block_rows;
      const std::int64_t there = std::min(rows, arguments.training_rows - row);
      LaunchGrid grid;
      grid.groups[0] = static_cast<unsigned>(ceil_div(there, arguments.block_rows) * arguments.queries_of_round);
      grid.group_size[0] = kRegressionProductThreads;
      products_.enqueue(queue, meeting, grid);
    }
  }

  /// products(query, row) = query * row. cuBLAS counts columns first, so rows come first.
  [[nodiscard]] int multiply(const RegressionTileArguments<T>& arguments, std::int64_t first_row, std::int64_t rows,
                             std::int64_t first_query, Length* products) const {
    const std::int64_t depth = arguments.depth;
    const auto* const from = arguments.rows + first_row * depth;
    const auto* const by = arguments.queries + first_query * depth;
    const std::int64_t count = std::min(kRegressionProductQueries, arguments.queries_of_round - first_query);
    const CublasApi& api = cublas_api();
    const Length one = 1;
    const Length zero = 0;
    if constexpr (std::is_same_v<T, float>) {
      return api.sgemm(handle_->get(), kCublasTransposed, kCublasAsStored, rows, count, depth, &one, from, depth, by,
                       depth, &zero, products, slab_rows_);
    } else if constexpr (std::is_same_v<T, double>) {
      return api.dgemm(handle_->get(), kCublasTransposed, kCublasAsStored, rows, count, depth, &one, from, depth, by,
                       depth, &zero, products, slab_rows_);
    } else {
      // The padding's queries are there, and cuBLAS likes multiples of 4 of them.
      const std::int64_t queries = mathematics::round_up<std::int64_t>(count, 4);
      return api.gemm_of_types(handle_->get(), kCublasTransposed, kCublasAsStored, rows, queries, depth, &one, from,
                               kCublasInt8, depth, by, kCublasInt8, depth, &zero, products, kCublasInt32, slab_rows_,
                               kCublasSumsInt32, kCublasOwnChoice);
    }
  }

  std::shared_ptr<CublasHandle> handle_;
  std::int64_t slab_rows_;
  CudaFunction products_;
};

backend::Verdict check(const KernelRegression& problem, const backend::Device& device) {
  using backend::Verdict;
  if (problem.accuracy == Accuracy::strict && problem.type != DataType::uint8) {
    return Verdict::no(
        "the accuracy of kernel_regression is strict, but with cuBLAS distances are made from lengths and products");
  }
  if (problem.is_slab && problem.type != DataType::uint8) {
    return Verdict::no(
        "kernel_regression is given a slab of its training set, but cuBLAS may round a product differently where there "
        "are other rows beside it");
  }
  if (Verdict columns = check_regression_bytes(problem); !columns) return columns;
  if (!cublas_api().usable()) return Verdict::no(cublas_api().why);
  return check_regression_groups(problem, device);
}

}  // namespace

backend::Variant<KernelRegression> kernel_regression_vendor_cublas() {
  return {.name = "vendor_cublas",
          .summary = "products by cuBLAS without TF32, opened at run time if it is there, and kernels of ours",
          .check = check,
          .tunables = nullptr,
          .make =
              [](const KernelRegression& problem, backend::Device& device, const Tuning&) {
                const std::shared_ptr<Context>& context = native(device).context();
                return for_rows(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
                  return std::make_unique<RegressionVendorCublas<decltype(element)>>(context, problem);
                });
              },
          .error_factor = 2,
          .error_factor_of = [](const KernelRegression& problem,
                                const backend::Device&) { return problem.type == DataType::uint8 ? 1.0 : 2.0; }};
}

}  // namespace tessera::cuda
