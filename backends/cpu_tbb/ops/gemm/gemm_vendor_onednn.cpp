// The variant "vendor_onednn": one call of oneDNN's sgemm, which has no double.
//
// oneDNN takes its number of threads from the runtime that it was built for. Distributions build it for OpenMP, whose
// number belongs to the calling thread, here a queue's own worker, so that nobody else is disturbed. Other runtimes do
// not let a caller say it, and are refused.
#include <cstdint>

#include "backend/sentence.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/gemm/gemm_vendor.h"

namespace tessera::cpu_tbb {

namespace {

/// The beginning of what dnnl_version() returns, the same in versions 2 and 3.
struct OnednnVersion {
  int major;
  int minor;
  int patch;
  const char* hash;
  unsigned cpu_runtime;
};
constexpr unsigned kOpenMp = 2;

using OnednnGemm = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                       const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                       std::int64_t ldc);

/// Opened on first use and for the life of the process.
class Onednn {
 public:
  Onednn() : library_({"libdnnl.so.3", "libdnnl.so.2"}) {
    const OnednnVersion* (*version)() = nullptr;
    complete_ = library_.function(multiply_, "dnnl_sgemm") && library_.function(version, "dnnl_version");
    if (complete_) runtime_ = version()->cpu_runtime;
    // Found through the library's own dependency, so it is the OpenMP that the library uses.
    has_threads_ = library_.function(set_threads_, "omp_set_num_threads");
  }

  [[nodiscard]] backend::Verdict check(const Gemm& problem) const {
    using backend::sentence;
    using backend::Verdict;
    if (problem.type != DataType::float32)
      return Verdict::no(
          sentence("the type of gemm is ", to_string(problem.type), ", but oneDNN multiplies float32 alone"));
    if (const Verdict opens = vendor_library_opens("oneDNN", library_); !opens) return opens;
    if (!complete_) return Verdict::no(sentence(library_.name(), " lacks dnnl_sgemm"));
    if (runtime_ != kOpenMp || !has_threads_)
      return Verdict::no(sentence(library_.name(), " was built for the CPU runtime ", runtime_, ", but only OpenMP (",
                                  kOpenMp, ") lets a caller set the number of threads"));
    return Verdict::yes();
  }

  void multiply(const Gemm& problem, const GemmMatrices<float>& gemm, int threads) const {
    if (gemm.m == 0 || gemm.n == 0) return;
    if (gemm.k == 0) return scale_by_beta(gemm);
    set_threads_(threads);
    const int status =
        multiply_(problem.transpose_a ? 'T' : 'N', problem.transpose_b ? 'T' : 'N', gemm.m, gemm.n, gemm.k, gemm.alpha,
                  gemm.a.data, problem.lda, gemm.b.data, problem.ldb, gemm.beta, gemm.c, problem.ldc);
    if (status != 0)
      throw Error(ErrorCode::internal, backend::sentence("dnnl_sgemm of ", library_.name(), " fails"),
                  {status, "dnnl_status_t"});
  }

 private:
  backend::SharedLibrary library_;
  bool complete_ = false;
  bool has_threads_ = false;
  unsigned runtime_ = 0;
  OnednnGemm* multiply_ = nullptr;
  void (*set_threads_)(int) = nullptr;
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
          compute_batch<float>(problem, executor, operands, BatchOrder::one_by_one,
                               [&](Executor&, const GemmMatrices<float>& gemm) {
                                 onednn().multiply(problem, gemm, executor.threads());
                               });
        });
      },
  };
}

}  // namespace tessera::cpu_tbb
