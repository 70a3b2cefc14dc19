// The variant "vendor_cublas": one call of cuBLAS, if it is there. A yardstick for our own variants: it stands behind
// them in the list, so that it is not taken unless asked for.
//
// cuBLAS counts columns first. A row-major C is its transpose there, so A and B change places: C' = op(B)' op(A)'.
// The workspace is the queue's own, because cuBLAS promises the same bits on every run only to those who bring one.
#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "backend/backend.h"
#include "cuda_buffer.h"
#include "cuda_device.h"
#include "cuda_queue.h"
#include "mathematics/gemm_as_computed.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"
#include "vendor/cuda_cublas.h"

namespace tessera::cuda {
namespace {

/// Products of one call: more would not fit an axis of a grid.
constexpr std::int64_t kLargestBatch = 65535;

bool is_tf32(const Gemm& problem) {
  return problem.type == DataType::float32 && problem.accuracy == Accuracy::fast;
}

/// TF32: 2^-10 of each product, which is 2^14 unit roundoffs, for a sum of k products. What tensor cores cut off as a
/// sum grows is nowhere documented; 4 allows for five addends every four products, each less by two unit roundoffs.
double error_factor_of(const Gemm& problem, const backend::Device&) {
  if (!is_tf32(problem) || problem.k == 0) return 1;
  return 4 + 0x1p14 / static_cast<double>(problem.k);
}

template <class T>
auto multiply_function() {
  if constexpr (std::is_same_v<T, float>) {
    return std::pair(cublas_api().sgemm, cublas_api().sgemm_batch);
  } else {
    return std::pair(cublas_api().dgemm, cublas_api().dgemm_batch);
  }
}

template <class T>
class GemmVendorCublas final : public backend::Kernel {
 public:
  GemmVendorCublas(std::shared_ptr<Context> context, const Gemm& problem)
      : context_(std::move(context)),
        handle_(context_->companion<CublasHandle>()),
        problem_(mathematics::gemm_as_computed(problem)) {
    // cuBLAS wants leading dimensions also of what it does not read.
    problem_.lda = std::max<std::int64_t>(problem_.lda, 1);
    problem_.ldb = std::max<std::int64_t>(problem_.ldb, 1);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return kCublasWorkspaceBytes; }

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& workspace) override {
    const Gemm& p = problem_;
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    static_cast<CudaQueue&>(queue).submit([&](CUstream stream) {
      const std::lock_guard one_at_a_time(handle_->mutex);
      handle_->use(stream, pointer_to<void>(workspace), is_tf32(p) ? CublasMath::tf32 : CublasMath::exact);
      for (std::int64_t first = 0; first < p.batch; first += kLargestBatch) {
        multiply(pointer_to<const T>(operands[0]) + first * p.stride_a,
                 pointer_to<const T>(operands[1]) + first * p.stride_b, pointer_to<T>(operands[2]) + first * p.stride_c,
                 std::min(p.batch - first, kLargestBatch));
      }
    });
  }

 private:
  void multiply(const T* a, const T* b, T* c, std::int64_t batch) const {
    const Gemm& p = problem_;
    const int a_as = p.transpose_a ? kCublasTransposed : kCublasAsStored;
    const int b_as = p.transpose_b ? kCublasTransposed : kCublasAsStored;
    const T alpha = static_cast<T>(p.alpha);
    const T beta = static_cast<T>(p.beta);
    const auto [one, many] = multiply_function<T>();
    const int status = batch == 1
                           ? one(handle_->get(), b_as, a_as, p.n, p.m, p.k, &alpha, b, p.ldb, a, p.lda, &beta, c, p.ldc)
                           : many(handle_->get(), b_as, a_as, p.n, p.m, p.k, &alpha, b, p.ldb, p.stride_b, a, p.lda,
                                  p.stride_a, &beta, c, p.ldc, p.stride_c, batch);
    cublas_api().check(status, "multiplying");
  }

  std::shared_ptr<Context> context_;
  std::shared_ptr<CublasHandle> handle_;
  Gemm problem_;
};

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  if (backend::Verdict type = check_gemm_type(problem, device); !type) return type;
  if (!cublas_api().usable()) return backend::Verdict::no(cublas_api().why);
  return backend::Verdict::yes();
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning&) {
  const std::shared_ptr<Context>& context = native(device).context();
  if (problem.type == DataType::float64) return std::make_unique<GemmVendorCublas<double>>(context, problem);
  return std::make_unique<GemmVendorCublas<float>>(context, problem);
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_cublas() {
  return {
      .name = "vendor_cublas",
      .summary = "cuBLAS, with TF32 where the accuracy is fast, opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make = make,
      .error_factor_of = error_factor_of,
  };
}

}  // namespace tessera::cuda
