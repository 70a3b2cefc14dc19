// The variant "vendor_onednn": one call of oneDNN's sgemm, which has no double.
#include <cstdint>

#include "backend/sentence.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/gemm/gemm_vendor.h"
#include "vendor/cpu_tbb_onednn_gemm.h"

namespace tessera::cpu_tbb {

namespace {

backend::Verdict check(const Gemm& problem, const backend::Device&) {
  if (problem.type != DataType::float32)
    return backend::Verdict::no(
        backend::sentence("the type of gemm is ", to_string(problem.type), ", but oneDNN multiplies float32 alone"));
  return onednn_gemm().check();
}

void multiply(const Gemm& problem, const GemmMatrices<float>& gemm, Executor& executor) {
  if (gemm.m == 0 || gemm.n == 0) return;
  if (gemm.k == 0) return scale_by_beta(gemm);
  multiply_and_scale(executor, gemm, [&](float alpha, float beta, float* c, std::int64_t ldc) {
    onednn_gemm().multiply(executor.threads(), problem.transpose_a, problem.transpose_b, gemm.m, gemm.n, gemm.k, alpha,
                           gemm.a.data, problem.lda, gemm.b.data, problem.ldb, beta, c, ldc);
  });
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_onednn() {
  return {
      .name = "vendor_onednn",
      .summary = "oneDNN's sgemm, opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        return std::make_unique<CpuTbbKernel>([problem](Executor& executor, OperandAddresses operands) {
          compute_batch<float>(problem, executor, operands, BatchOrder::one_by_one,
                               [&](Executor&, const GemmMatrices<float>& gemm) { multiply(problem, gemm, executor); });
        });
      },
  };
}

}  // namespace tessera::cpu_tbb
