// Which way round a problem is computed.
#include "ops/gemm/gemm_oriented.h"

#include <utility>

namespace tessera::opencl {

Oriented orient(const Gemm& computed) noexcept {
  Oriented oriented{computed};
  Gemm& p = oriented.problem;
  if (computed.n == 1 && computed.m > 1 && computed.ldc == 1) {
    oriented.swapped = true;
    std::swap(p.m, p.n);
    std::swap(p.lda, p.ldb);
    std::swap(p.stride_a, p.stride_b);
    p.transpose_a = !computed.transpose_b;
    p.transpose_b = !computed.transpose_a;
    p.ldc = p.n;
  }
  if (p.m == 1 && p.transpose_a && p.lda == 1) {
    p.transpose_a = false;
    p.lda = p.k;
  }
  if (p.n == 1 && !p.transpose_b && p.ldb == 1) {
    p.transpose_b = true;
    p.ldb = p.k;
  }
  return oriented;
}

std::vector<MemoryArgument> Oriented::operands() const {
  std::vector<MemoryArgument> operands = gemm_operands(problem);
  if (swapped) std::swap(operands[0].place, operands[1].place);
  return operands;
}

}  // namespace tessera::opencl
