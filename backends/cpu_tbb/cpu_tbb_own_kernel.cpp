// Checks a CPU function against its declaration, and runs it over the work-groups of a launch.
#include "cpu_tbb_own_kernel.h"

#include <array>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "cpu_tbb_buffer.h"
#include "cpu_tbb_error.h"
#include "cpu_tbb_queue.h"

namespace tessera::cpu_tbb {

namespace {

using backend::sentence;

std::string describe(const Parameter& parameter) {
  return sentence(to_string(parameter.kind), " ", to_string(parameter.type));
}

void check_function(const KernelSource& source) {
  const std::string kernel = sentence("kernel '", source.name, "'");
  if (!source.cpu) {
    std::string languages = source.opencl.empty() ? "" : "OpenCL C";
    if (!source.cuda.empty()) languages += languages.empty() ? "CUDA C++" : " and CUDA C++";
    if (languages.empty()) languages = "no source at all";
    throw Error(ErrorCode::unsupported, sentence(kernel, " has no CPU function, only ", languages));
  }
  const std::vector<Parameter>& taken = source.cpu.parameters();
  const std::vector<Parameter>& declared = source.parameters;
  if (taken.size() != declared.size()) {
    throw Error(ErrorCode::invalid_argument, sentence("the CPU function of ", kernel, " takes ", taken.size(),
                                                      " parameters, but ", declared.size(), " are declared"));
  }
  for (std::size_t index = 0; index < taken.size(); ++index) {
    if (taken[index].kind == declared[index].kind && taken[index].type == declared[index].type) continue;
    throw Error(ErrorCode::invalid_argument,
                sentence("parameter '", declared[index].name, "' of ", kernel, " is declared as ",
                         describe(declared[index]), ", but the CPU function takes ", describe(taken[index])));
  }
}

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

/// One launch: what its groups share. Local parameters have no address yet, but an offset into a group's memory.
struct CpuTbbOwnKernel::Launch {
  struct Local {
    std::size_t argument = 0;
    std::size_t offset_bytes = 0;
  };

  Launch(std::shared_ptr<const Program> its_program, const LaunchShape& its_shape,
         std::span<const backend::Argument> given);
  void run(Executor& executor) const;
  void run_groups(std::uint64_t first, std::uint64_t last, std::span<const detail::HostArgument> arguments) const;

  std::shared_ptr<const Program> program;
  LaunchShape shape;
  std::vector<std::array<std::byte, 8>> scalars;  // one for each argument, so that addresses stay
  std::vector<detail::HostArgument> arguments;
  std::vector<Local> locals;
  std::size_t local_bytes = 0;
};

CpuTbbOwnKernel::Launch::Launch(std::shared_ptr<const Program> its_program, const LaunchShape& its_shape,
                                std::span<const backend::Argument> given)
    : program(std::move(its_program)), shape(its_shape), scalars(given.size()), arguments(given.size()) {
  for (std::size_t index = 0; index < given.size(); ++index) {
    const backend::Argument& argument = given[index];
    switch (argument.kind) {
      case ParameterKind::input:
      case ParameterKind::output:
        arguments[index] = {argument.buffer.buffer == nullptr ? nullptr : address_of(argument.buffer),
                            argument.buffer.size_bytes / size_bytes(argument.type)};
        break;
      case ParameterKind::scalar:
        scalars[index] = argument.scalar;
        arguments[index] = {scalars[index].data(), 1};
        break;
      case ParameterKind::local:
        arguments[index].count = argument.local_bytes / size_bytes(argument.type);
        locals.push_back({index, local_bytes});
        local_bytes += round_up(argument.local_bytes, ScratchPool::kAlignment);
        break;
    }
  }
}

void CpuTbbOwnKernel::Launch::run(Executor& executor) const {
  const auto groups = static_cast<std::int64_t>(shape.groups.volume());
  executor.parallel_for(groups, [&](std::int64_t first, std::int64_t last) {
    std::vector<detail::HostArgument> own_arguments(arguments);
    std::optional<ScratchPool::Loan> local_memory;
    if (local_bytes > 0) local_memory.emplace(executor.scratch(), local_bytes);
    for (const Local& local : locals)
      own_arguments[local.argument].data = local_memory ? local_memory->data() + local.offset_bytes : nullptr;
    run_groups(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last), own_arguments);
  });
}

void CpuTbbOwnKernel::Launch::run_groups(std::uint64_t first, std::uint64_t last,
                                         std::span<const detail::HostArgument> own_arguments) const {
  const Extent3& groups = shape.groups;
  WorkGroup group{
      {first % groups.x, first / groups.x % groups.y, first / groups.x / groups.y}, groups, shape.group_size};
  try {
    for (std::uint64_t number = first; number < last; ++number) {
      program->function(group, own_arguments);
      if (++group.id.x < groups.x) continue;
      group.id.x = 0;
      if (++group.id.y < groups.y) continue;
      group.id.y = 0;
      ++group.id.z;
    }
  } catch (...) {
    throw translate(std::current_exception(), program->description);
  }
}

CpuTbbOwnKernel::CpuTbbOwnKernel(const KernelSource& source) {
  check_function(source);
  program_ =
      std::make_shared<const Program>(Program{sentence("the CPU function of kernel '", source.name, "'"), source.cpu});
}

OwnKernelLimits CpuTbbOwnKernel::limits() const {
  return {kMaxGroupSize, kLocalMemoryBytes, 1};
}

void CpuTbbOwnKernel::launch(backend::Queue& queue, const LaunchShape& shape,
                             std::span<const backend::Argument> arguments) {
  auto launch = or_no_memory([&] { return std::make_shared<const Launch>(program_, shape, arguments); });
  static_cast<CpuTbbQueue&>(queue).submit([launch = std::move(launch)](Executor& executor) { launch->run(executor); });
}

}  // namespace tessera::cpu_tbb
