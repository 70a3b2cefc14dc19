// The variant "naive" of gemm: a block's shape.
#include "backend/sentence.h"
#include "cuda_embedded.h"
#include "ops/gemm/gemm_arguments.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/plain_block.h"

namespace tessera::cuda {
namespace {

std::vector<Tunable> tunables(const Gemm&, const backend::Device&) {
  // Any block will do: the kernel loops where a launch has fewer groups than it takes.
  return plain_block_tunables({4, 8, 16, 32}, "C", [](const PlainBlock&) { return true; });
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const PlainBlock block = plain_block(tuning);
  return make_gemm_kernel(
      problem, device, embedded::gemm_naive, backend::sentence("tessera_gemm_naive_", to_string(problem.type)),
      {block.rows, block.columns, static_cast<unsigned>(block.columns), static_cast<unsigned>(block.rows)});
}

}  // namespace

backend::Variant<Gemm> gemm_naive() {
  return {
      .name = "naive",
      .summary = "one thread an element of C, from device memory",
      .check = check_gemm_type,
      .tunables = tunables,
      .make = make,
  };
}

}  // namespace tessera::cuda
