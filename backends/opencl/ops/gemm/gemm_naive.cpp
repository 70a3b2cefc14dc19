// gemm, naive: one work-item an element of C. See naive.cl.
#include "ops/gemm/gemm_operands.h"
#include "ops/gemm/gemm_variants.h"

extern "C" const unsigned char tessera_opencl_gemm_naive[];
extern "C" const unsigned long tessera_opencl_gemm_naive_size;

namespace tessera::opencl {

namespace {

/// A warp of 32 along a row of C, 8 rows. Halved, rows first, until a group is what the compiled kernel can take.
constexpr std::int64_t kColumns = 32;
constexpr std::int64_t kRows = 8;

backend::Verdict check(const Gemm& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (backend::Verdict verdict = check_gemm_type(problem, facts); !verdict) return verdict;
  // One work-item a group is the smallest that a device may insist on.
  const std::uint64_t per_group = facts.info.max_group_size >= kColumns * kRows ? kColumns * kRows : 1;
  const std::uint64_t groups = per_group == 1 ? gemm_blocks(problem, 1, 1) : gemm_blocks(problem, kRows, kColumns);
  return check_gemm_groups("gemm", groups);
}

std::unique_ptr<backend::Kernel> make(const Gemm& problem, backend::Device& device, const Tuning& /*tuning*/) {
  const OpenclDevice& opencl = native(device);
  const std::string_view text(reinterpret_cast<const char*>(tessera_opencl_gemm_naive), tessera_opencl_gemm_naive_size);
  const auto& program = opencl.programs().build_once(gemm_program("gemm_naive", text, problem));
  auto kernel = std::make_unique<CompiledKernel>(opencl.context(), program.get(), "gemm_naive");
  const auto limit = static_cast<std::int64_t>(kernel->max_group_size());
  const auto row_limit = static_cast<std::int64_t>(opencl.facts().info.max_group_extent[1]);
  std::int64_t columns = kColumns;
  std::int64_t rows = kRows;
  while (rows > 1 && (rows * columns > limit || rows > row_limit)) rows /= 2;
  while (columns > 1 && columns > limit) columns /= 2;
  return bind_gemm(std::move(kernel), problem, rows, columns);
}

}  // namespace

backend::Variant<Gemm> gemm_naive() {
  return {.name = "naive",
          .summary = "one work-item an element of C, A and B read from global memory",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
