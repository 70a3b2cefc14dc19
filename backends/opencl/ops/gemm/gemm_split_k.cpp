// Cuts k into parts, and makes the launch that adds them up.
#include "ops/gemm/gemm_split_k.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/joined_parts.h"

namespace tessera::opencl {

Tunable split_k_tunable(std::int64_t preferred) {
  return {.name = "split_k",
          .meaning = "parts that k is cut into at most, each summed by groups of its own",
          .values = {kGemmSplits.begin(), kGemmSplits.end()},
          .preferred = preferred};
}

Gemm KParts::problem_of_sums(Gemm problem) const {
  if (count == 1) return problem;
  problem.alpha = 1;
  problem.beta = 0;
  problem.ldc = width;
  problem.stride_c = problem.m * width;
  return problem;
}

KParts cut_k(const Gemm& computed, std::int64_t wanted, std::int64_t step) {
  constexpr std::int64_t kRowMultiple = 4;  // so that rows of sums are aligned for vectors
  KParts parts;
  parts.length = std::max<std::int64_t>(computed.k, 1);
  const std::int64_t steps = ceil_div(computed.k, step);
  if (wanted <= 1 || steps <= 1) return parts;
  const std::int64_t width = ceil_div(computed.n, kRowMultiple) * kRowMultiple;
  const double bytes_of_part = static_cast<double>(computed.batch) * static_cast<double>(computed.m) *
                               static_cast<double>(width) * static_cast<double>(size_bytes(computed.type));
  const double fitting = static_cast<double>(kMostWorkspaceBytes) / bytes_of_part;
  if (fitting < 2) return parts;
  const std::int64_t most = std::min(wanted, static_cast<std::int64_t>(std::min(fitting, 1e6)));
  parts.length = ceil_div(steps, most) * step;
  parts.count = ceil_div(computed.k, parts.length);
  if (parts.count == 1) return parts;
  parts.width = width;
  parts.elements = parts.count * computed.batch * computed.m * width;
  return parts;
}

OperatorLaunch launch_of_sum(std::unique_ptr<CompiledKernel> kernel, const Gemm& computed, const KParts& parts,
                             std::int64_t first_element) {
  OperatorLaunch launch;
  launch.range = line_of(*kernel, gemm_blocks(computed, 1, 1));
  launch.kernel = std::move(kernel);
  launch.memory = {{.place = MemoryArgument::kWorkspace,
                    .type = computed.type,
                    .first_element = static_cast<std::uint64_t>(first_element)},
                   {.place = 2, .type = computed.type}};
  set_gemm_structs(launch, computed, parts.scalars());
  return launch;
}

std::unique_ptr<backend::Kernel> make_gemm_in_parts(const OpenclDevice& device, const ProgramSource& source,
                                                    const Gemm& computed, const KParts& parts,
                                                    std::vector<MemoryArgument> operands, const NdRange& range,
                                                    std::size_t joined) {
  const auto& program = device.programs().build_once(source);
  const auto kernel = [&](const std::string& name) {
    return std::make_unique<CompiledKernel>(device.context(), program.get(), name);
  };
  OperatorLaunch multiply{kernel(source.name), range, std::move(operands)};
  if (joined != 0) {
    add_joint(multiply.memory, computed.type);
    set_gemm_structs(multiply, computed, parts.scalars());
    std::vector<OperatorLaunch> launches;
    launches.push_back(std::move(multiply));
    return std::make_unique<OpenclKernel>(std::move(launches), joined * size_bytes(computed.type));
  }
  if (parts.count > 1) multiply.memory[2].place = MemoryArgument::kWorkspace;
  set_gemm_structs(multiply, parts.problem_of_sums(computed), parts.scalars());
  std::vector<OperatorLaunch> launches;
  launches.push_back(std::move(multiply));
  if (parts.count > 1) launches.push_back(launch_of_sum(kernel("gemm_register_sum"), computed, parts, 0));
  return std::make_unique<OpenclKernel>(std::move(launches),
                                        static_cast<std::size_t>(parts.elements) * size_bytes(computed.type));
}

}  // namespace tessera::opencl
