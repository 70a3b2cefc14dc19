// The variant "naive": the plain loops of gemm_plain.h (its picture is there), rows of C dealt to the threads. A row is
// one chunk, so the executor decides: oneTBB splits where threads are idle, the static pool gives contiguous rows.
// Nothing is reused on purpose; what it gains over "sequential" is threads alone.
#include "ops/gemm/gemm_plain.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<Gemm> gemm_naive() {
  return {
      .name = "naive",
      .summary = "plain loops, rows of C spread over the threads",
      .check = [](const Gemm&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning&) {
            return make_gemm_kernel(problem, [](Executor& executor, const auto& gemm) {
              executor.parallel_for(gemm.m,
                                    [&](std::int64_t first, std::int64_t last) { multiply_rows(gemm, first, last); });
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
