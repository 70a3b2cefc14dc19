// dnnl_sgemm.
#include "vendor/cpu_tbb_onednn_gemm.h"

#include <tessera/error.h>

#include "backend/sentence.h"
#include "vendor/cpu_tbb_onednn.h"

namespace tessera::cpu_tbb {

OnednnGemm::OnednnGemm() {
  (void)onednn_library().shared().function(multiply_, "dnnl_sgemm");
}

backend::Verdict OnednnGemm::check() const {
  if (backend::Verdict usable = onednn_library().check(); !usable) return usable;
  if (multiply_ == nullptr)
    return backend::Verdict::no(backend::sentence(onednn_library().shared().name(), " lacks dnnl_sgemm"));
  return backend::Verdict::yes();
}

void OnednnGemm::multiply(int threads, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n,
                          std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                          std::int64_t ldb, float beta, float* c, std::int64_t ldc) const {
  onednn_library().set_threads(threads);
  const int status =
      multiply_(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (status != 0)
    throw Error(ErrorCode::internal, backend::sentence("dnnl_sgemm of ", onednn_library().shared().name(), " fails"),
                {status, "dnnl_status_t"});
}

const OnednnGemm& onednn_gemm() {
  static const auto& gemm = *new OnednnGemm;
  return gemm;
}

}  // namespace tessera::cpu_tbb
