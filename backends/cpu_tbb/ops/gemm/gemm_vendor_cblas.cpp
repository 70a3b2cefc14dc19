// The variants "vendor_openblas" and "vendor_blis": one call of the C interface to BLAS that both libraries offer.
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "backend/sentence.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/gemm/gemm_vendor.h"
#include "vendor/cpu_tbb_cblas.h"

namespace tessera::cpu_tbb {

namespace {

/// No if a size or a leading dimension of the problem is too large for the library's integers of 32 bits.
backend::Verdict counts_in_int(std::string_view vendor, const Gemm& problem) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  const std::pair<const char*, std::int64_t> sizes[] = {{"m", problem.m},     {"n", problem.n},
                                                        {"k", problem.k},     {"lda", problem.lda},
                                                        {"ldb", problem.ldb}, {"ldc", problem.ldc}};
  for (const auto& [name, size] : sizes) {
    if (size > kLargest)
      return backend::Verdict::no(
          backend::sentence(name, " of gemm is ", size, ", but ", vendor, " takes at most ", kLargest));
  }
  return backend::Verdict::yes();
}

template <class Library>
backend::Verdict check(const Library& library, const Gemm& problem) {
  if (const backend::Verdict usable = library.check(); !usable) return usable;
  return counts_in_int(library.vendor(), problem);
}

template <class Library, class T>
void multiply(Library& library, const Gemm& problem, const GemmMatrices<T>& gemm, Executor& executor) {
  if (gemm.m == 0 || gemm.n == 0) return;
  if (gemm.k == 0) return scale_by_beta(gemm);
  const auto count = [](std::int64_t size) { return static_cast<int>(size); };
  multiply_and_scale(executor, gemm, [&](T alpha, T beta, T* c, std::int64_t ldc) {
    library.multiply(executor.threads(), problem.transpose_a, problem.transpose_b, count(gemm.m), count(gemm.n),
                     count(gemm.k), alpha, gemm.a.data, count(problem.lda), gemm.b.data, count(problem.ldb), beta, c,
                     count(ldc));
  });
}

/// The kernel that calls the library that `get` returns.
template <class Get>
std::unique_ptr<backend::Kernel> make_vendor_kernel(const Gemm& problem, Get get) {
  return make_gemm_kernel(
      problem, [problem, get](Executor& executor, const auto& gemm) { multiply(get(), problem, gemm, executor); },
      BatchOrder::one_by_one);
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_openblas() {
  return {
      .name = "vendor_openblas",
      .summary = "OpenBLAS, opened at run time if it is there",
      .check = [](const Gemm& problem, const backend::Device&) { return check(open_blas(), problem); },
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&,
                 const Tuning&) { return make_vendor_kernel(problem, open_blas); },
  };
}

backend::Variant<Gemm> gemm_vendor_blis() {
  return {
      .name = "vendor_blis",
      .summary = "BLIS, opened at run time if it is there",
      .check = [](const Gemm& problem, const backend::Device&) { return check(blis(), problem); },
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&, const Tuning&) { return make_vendor_kernel(problem, blis); },
  };
}

}  // namespace tessera::cpu_tbb
