// What the host code of gemm's kernels shares: which types they take, and the kernels of one launch, whose arguments
// are the problem as it stands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tessera/ops/gemm.h>

#include "backend/backend.h"
#include "backend/variant.h"
#include "cuda_module.h"
#include "ops/gemm/gemm_arguments.h"

namespace tessera::cuda {

/// The kernels take every size, stride and orientation, and multiply and add in the operands' own type, which is what
/// every accuracy allows; so only the type can be refused.
[[nodiscard]] backend::Verdict check_gemm_type(const Gemm& problem, const backend::Device& device);

/// All but the addresses, of a problem as it is computed (mathematics/gemm_as_computed.h).
template <class T>
[[nodiscard]] GemmArguments<T> gemm_arguments(const Gemm& problem) {
  GemmArguments<T> arguments{};
  arguments.m = problem.m;
  arguments.n = problem.n;
  arguments.k = problem.k;
  arguments.lda = problem.lda;
  arguments.ldb = problem.ldb;
  arguments.ldc = problem.ldc;
  arguments.batch = problem.batch;
  arguments.stride_a = problem.stride_a;
  arguments.stride_b = problem.stride_b;
  arguments.stride_c = problem.stride_c;
  arguments.alpha = static_cast<T>(problem.alpha);
  arguments.beta = static_cast<T>(problem.beta);
  arguments.transpose_a = problem.transpose_a;
  arguments.transpose_b = problem.transpose_b;
  return arguments;
}

/// A group's share of C and the threads that compute it.
struct GemmTile {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  unsigned threads_x = 0;
  unsigned threads_y = 0;
};

/// A kernel of one function that takes GemmArguments.
[[nodiscard]] std::unique_ptr<backend::Kernel> make_gemm_kernel(const Gemm& problem, const backend::Device& device,
                                                                const Image& image, const std::string& function,
                                                                const GemmTile& tile);

}  // namespace tessera::cuda
