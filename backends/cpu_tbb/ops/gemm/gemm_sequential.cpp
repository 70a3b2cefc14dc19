// The variant "sequential": the plain loops of gemm_plain.h (its picture is there) on the queue's own thread, without
// vectors, blocks or a second thread. It must stay so: it is the baseline of every speed-up that is reported.
#include "ops/gemm/gemm_plain.h"
#include "ops/gemm/gemm_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<Gemm> gemm_sequential() {
  return {
      .name = "sequential",
      .summary = "plain loops on one thread, one element of C after another",
      .check = [](const Gemm&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const Gemm& problem, backend::Device&, const Tuning&) {
            return make_gemm_kernel(
                problem, [](Executor&, const auto& gemm) { multiply_rows(gemm, std::int64_t{0}, gemm.m); },
                BatchOrder::one_by_one);
          },
  };
}

}  // namespace tessera::cpu_tbb
