// The variant "naive" of gemm.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/gemm/gemm_arguments.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cuda {
namespace {

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning&) {
  constexpr GemmTile kTile{kGemmNaiveRows, kGemmNaiveColumns, kGemmNaiveColumns, kGemmNaiveRows};
  return make_gemm_kernel(problem, device, embedded::gemm_naive,
                          backend::sentence("tessera_gemm_naive_", to_string(problem.type)), kTile);
}

}  // namespace

backend::Variant<Gemm> gemm_naive() {
  return {
      .name = "naive",
      .summary = "one thread an element of C, from device memory",
      .check = check_gemm_type,
      .tunables = nullptr,
      .make = make,
  };
}

}  // namespace tessera::cuda
