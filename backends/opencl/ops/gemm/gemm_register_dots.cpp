// gemm, register, by dot products: the launch. See gemm_register_dots.cl.
#include <utility>

#include "opencl_embedded.h"
#include "ops/gemm/gemm_register.h"

namespace tessera::opencl {

std::unique_ptr<backend::Kernel> make_register_dots(const Oriented& oriented, const OpenclDevice& device,
                                                    const RegisterTuning& tuning) {
  // 16 sums and 5 numbers in the 32 registers of processors with vectors of 64 bytes, 8 and 5 in the 16 of others.
  const std::uint64_t vector_bytes = device.facts().vector_bytes;
  const std::int64_t work_m = vector_bytes == 64 ? 4 : 2;
  constexpr std::int64_t kWorkN = 4;
  const Gemm& computed = oriented.problem;
  const auto width = static_cast<std::int64_t>(vector_bytes / size_bytes(computed.type));
  const KParts parts = cut_k(computed, tuning.split_k, width);
  Gemm as_stored = computed;  // it is for one way round alone
  as_stored.transpose_a = as_stored.transpose_b = false;
  const auto& program = device.programs().build_once(
      gemm_program("gemm_register_dots", embedded::gemm_register_dots, as_stored,
                   " -DWORK_M=" + std::to_string(work_m) + " -DWORK_N=" + std::to_string(kWorkN) +
                       " -DWIDTH=" + std::to_string(width)));

  OperatorLaunch multiply;
  multiply.kernel = std::make_unique<CompiledKernel>(device.context(), program.get(), "gemm_register_dots");
  const std::uint64_t groups = gemm_blocks(computed, work_m, kWorkN) * static_cast<std::uint64_t>(parts.count);
  multiply.range = {1, {groups, 1, 1}, {1, 1, 1}};
  multiply.memory = oriented.operands();
  if (parts.count > 1) multiply.memory[2].place = MemoryArgument::kWorkspace;
  set_gemm_scalars(multiply, parts.problem_of_sums(computed), cl_long{computed.batch}, cl_long{parts.length});

  std::vector<OperatorLaunch> launches;
  launches.push_back(std::move(multiply));
  if (parts.count > 1) {
    auto sum = std::make_unique<CompiledKernel>(device.context(), program.get(), "gemm_register_sum");
    launches.push_back(launch_of_sum(std::move(sum), computed, parts, 0));
  }
  return std::make_unique<OperatorKernel>(std::move(launches),
                                          static_cast<std::size_t>(parts.elements) * size_bytes(computed.type));
}

}  // namespace tessera::opencl
