// gemm, naive: one work-item an element of C, the block's shape a pair of tunables. See gemm_naive.cl.
#include "opencl_embedded.h"
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"
#include "ops/plain_group.h"

namespace tessera::opencl {

namespace {

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (backend::Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  const PlainGroup smallest = smallest_plain_group(facts);
  return check_groups("gemm", gemm_blocks(problem, smallest.rows, smallest.columns));
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& device) {
  return plain_group_tunables(native(device).facts(), {4, 8, 16, 32}, "C", [&](const PlainGroup& group) -> bool {
    return static_cast<bool>(check_groups("gemm", gemm_blocks(problem, group.rows, group.columns)));
  });
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& tuning) {
  const OpenclDevice& opencl = native(device);
  auto kernel = opencl.kernel(gemm_program("gemm_naive", embedded::gemm_naive, problem));
  const PlainGroup group = shrunk(plain_group(tuning), *kernel, opencl.facts());
  return bind_gemm(std::move(kernel), problem, group.rows, group.columns);
}

}  // namespace

backend::Variant<Gemm> gemm_naive() {
  return {.name = "naive",
          .summary = "one work-item an element of C, A and B read from global memory",
          .check = check,
          .tunables = tunables,
          .make = make};
}

}  // namespace tessera::opencl
