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

CompilePlain compile_for(const Gemm& problem, const OpenclDevice& device) {
  return [&](const std::string& options) {
    return device.kernel(gemm_program("gemm_naive", embedded::gemm_naive, problem, options));
  };
}

std::vector<Tunable> tunables(const Gemm& problem, const backend::Device& opened) {
  const OpenclDevice& device = native(opened);
  return plain_group_tunables(device.facts(), {4, 8, 16, 32}, "C", [&](const PlainGroup& group) {
    return check_groups("gemm", gemm_blocks(problem, group.rows, group.columns)) &&
           is_taken_whole(group, device.facts(), compile_for(problem, device));
  });
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& opened, const Tuning& tuning) {
  const OpenclDevice& device = native(opened);
  PlainKernel plain = compile_plain(plain_group(tuning), device.facts(), compile_for(problem, device));
  return bind_gemm(std::move(plain.kernel), problem, plain.group.rows, plain.group.columns);
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
