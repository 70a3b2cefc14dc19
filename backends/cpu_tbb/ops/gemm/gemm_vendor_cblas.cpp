// The variants "vendor_openblas" and "vendor_blis": one call of the C interface to BLAS that both libraries offer.
//
// Both keep their number of threads for the whole process. It is set to the device's for each call and put back after,
// and calls are made one at a time, so that two devices, or the application, do not disturb each other.
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/sentence.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/gemm/gemm_vendor.h"

namespace tessera::cpu_tbb {

namespace {

constexpr int kRowMajor = 101;
constexpr int kAsStored = 111;
constexpr int kTransposed = 112;

template <class T>
using CblasGemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a, int lda,
                       const T* b, int ldb, T beta, T* c, int ldc);

/// A library with the interface, opened on first use and for the life of the process. Count is its type for a number
/// of threads.
template <class Count>
class CblasLibrary {
 public:
  CblasLibrary(std::string_view vendor, const std::vector<std::string>& names, const char* get_threads,
               const char* set_threads)
      : vendor_(vendor), library_(names) {
    complete_ = library_.function(multiply_float32_, "cblas_sgemm") &&
                library_.function(multiply_float64_, "cblas_dgemm") && library_.function(get_threads_, get_threads) &&
                library_.function(set_threads_, set_threads);
  }

  [[nodiscard]] backend::Verdict check(const Gemm& problem) const {
    if (const backend::Verdict opens = vendor_library_opens(vendor_, library_); !opens) return opens;
    if (!complete_)
      return backend::Verdict::no(backend::sentence(library_.name(), " lacks a function of the C interface to BLAS"));
    return vendor_counts_in_int(vendor_, problem);
  }

  template <class T>
  void multiply(const Gemm& problem, const GemmMatrices<T>& gemm, Executor& executor) {
    if (gemm.m == 0 || gemm.n == 0) return;
    if (gemm.k == 0) return scale_by_beta(gemm);
    const int threads = executor.threads();
    multiply_and_scale(executor, gemm, [&](T alpha, T beta, T* c, std::int64_t ldc) {
      const std::lock_guard one_at_a_time(mutex_);
      const Count threads_before = get_threads_();
      if (threads_before != threads) set_threads_(static_cast<Count>(threads));
      function_for(T())(
          kRowMajor, problem.transpose_a ? kTransposed : kAsStored, problem.transpose_b ? kTransposed : kAsStored,
          static_cast<int>(gemm.m), static_cast<int>(gemm.n), static_cast<int>(gemm.k), alpha, gemm.a.data,
          static_cast<int>(problem.lda), gemm.b.data, static_cast<int>(problem.ldb), beta, c, static_cast<int>(ldc));
      if (threads_before != threads && threads_before > 0) set_threads_(threads_before);
    });
  }

 private:
  [[nodiscard]] CblasGemm<float>* function_for(float) const noexcept { return multiply_float32_; }
  [[nodiscard]] CblasGemm<double>* function_for(double) const noexcept { return multiply_float64_; }

  std::string_view vendor_;
  backend::SharedLibrary library_;
  bool complete_ = false;
  std::mutex mutex_;
  CblasGemm<float>* multiply_float32_ = nullptr;
  CblasGemm<double>* multiply_float64_ = nullptr;
  Count (*get_threads_)() = nullptr;
  void (*set_threads_)(Count) = nullptr;
};

using OpenBlas = CblasLibrary<int>;
using Blis = CblasLibrary<std::int64_t>;

// Never destroyed: queues may still run while static objects die.
OpenBlas& open_blas() {
  static auto& library =
      *new OpenBlas("OpenBLAS", {"libopenblas.so.0"}, "openblas_get_num_threads", "openblas_set_num_threads");
  return library;
}
Blis& blis() {
  static auto& library =
      *new Blis("BLIS", {"libblis.so.4", "libblis.so.3"}, "bli_thread_get_num_threads", "bli_thread_set_num_threads");
  return library;
}

/// The kernel that calls the library that `get` returns.
template <class Get>
std::unique_ptr<backend::Kernel> make_vendor_kernel(const Gemm& problem, Get get) {
  return make_gemm_kernel(
      problem, [problem, get](Executor& executor, const auto& gemm) { get().multiply(problem, gemm, executor); },
      BatchOrder::one_by_one);
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_openblas() {
  return {
      .name = "vendor_openblas",
      .summary = "OpenBLAS, opened at run time if it is there",
      .check = [](const Gemm& problem, const backend::Device&) { return open_blas().check(problem); },
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&,
                 const Tuning&) { return make_vendor_kernel(problem, open_blas); },
  };
}

backend::Variant<Gemm> gemm_vendor_blis() {
  return {
      .name = "vendor_blis",
      .summary = "BLIS, opened at run time if it is there",
      .check = [](const Gemm& problem, const backend::Device&) { return blis().check(problem); },
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&, const Tuning&) { return make_vendor_kernel(problem, blis); },
  };
}

}  // namespace tessera::cpu_tbb
