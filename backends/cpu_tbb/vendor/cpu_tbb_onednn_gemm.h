// oneDNN's multiplication of matrices, opened at run time if it is there. It has no double.
#pragma once

#include <cstdint>

#include "backend/variant.h"

namespace tessera::cpu_tbb {

class OnednnGemm {
 public:
  OnednnGemm();

  /// No if oneDNN did not open, or lacks the function.
  [[nodiscard]] backend::Verdict check() const;
  /// C = alpha * op(A) * op(B) + beta * C, rows first. Only after check() said yes; throws if oneDNN refuses.
  void multiply(int threads, bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                std::int64_t ldc) const;

 private:
  using Function = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                       const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                       std::int64_t ldc);
  Function* multiply_ = nullptr;
};

/// The one of the process, opened on first use and never closed: queues may still run while static objects die.
[[nodiscard]] const OnednnGemm& onednn_gemm();

}  // namespace tessera::cpu_tbb
