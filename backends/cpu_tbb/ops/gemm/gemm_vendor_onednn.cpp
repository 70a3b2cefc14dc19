// The variant "vendor_onednn": one call of oneDNN's sgemm, which has no double.
#include <cstdint>

#include "backend/sentence.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/gemm/gemm_vendor.h"
#include "vendor/cpu_tbb_onednn.h"

namespace tessera::cpu_tbb {

namespace {

using OnednnGemm = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                       const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                       std::int64_t ldc);

/// Opened on first use and for the life of the process.
class Onednn {
 public:
  Onednn() { (void)onednn_library().shared().function(multiply_, "dnnl_sgemm"); }

  [[nodiscard]] backend::Verdict check(const Gemm& problem) const {
    using backend::sentence;
    using backend::Verdict;
    if (problem.type != DataType::float32)
      return Verdict::no(
          sentence("the type of gemm is ", to_string(problem.type), ", but oneDNN multiplies float32 alone"));
    if (Verdict usable = onednn_library().check(); !usable) return usable;
    if (multiply_ == nullptr) return Verdict::no(sentence(onednn_library().shared().name(), " lacks dnnl_sgemm"));
    return Verdict::yes();
  }

  void multiply(const Gemm& problem, const GemmMatrices<float>& gemm, Executor& executor) const {
    if (gemm.m == 0 || gemm.n == 0) return;
    if (gemm.k == 0) return scale_by_beta(gemm);
    onednn_library().set_threads(executor.threads());
    int status = 0;
    multiply_and_scale(executor, gemm, [&](float alpha, float beta, float* c, std::int64_t ldc) {
      status = multiply_(problem.transpose_a ? 'T' : 'N', problem.transpose_b ? 'T' : 'N', gemm.m, gemm.n, gemm.k,
                         alpha, gemm.a.data, problem.lda, gemm.b.data, problem.ldb, beta, c, ldc);
    });
    if (status != 0)
      throw Error(ErrorCode::internal, backend::sentence("dnnl_sgemm of ", onednn_library().shared().name(), " fails"),
                  {status, "dnnl_status_t"});
  }

 private:
  OnednnGemm* multiply_ = nullptr;
};

// Never destroyed: queues may still run while static objects die.
const Onednn& onednn() {
  static const auto& library = *new Onednn;
  return library;
}

}  // namespace

backend::Variant<Gemm> gemm_vendor_onednn() {
  return {
      .name = "vendor_onednn",
      .summary = "oneDNN's sgemm, opened at run time if it is there",
      .check = [](const Gemm& problem, const backend::Device&) { return onednn().check(problem); },
      .tunables = nullptr,
      .make = [](const Gemm& problem, backend::Device&, const Tuning&) -> std::unique_ptr<backend::Kernel> {
        return std::make_unique<CpuTbbKernel>([problem](Executor& executor, OperandAddresses operands) {
          compute_batch<float>(
              problem, executor, operands, BatchOrder::one_by_one,
              [&](Executor&, const GemmMatrices<float>& gemm) { onednn().multiply(problem, gemm, executor); });
        });
      },
  };
}

}  // namespace tessera::cpu_tbb
