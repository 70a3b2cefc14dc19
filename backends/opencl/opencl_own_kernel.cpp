// Compiles and launches own kernels.
#include "opencl_own_kernel.h"

#include <algorithm>
#include <utility>

#include "opencl_buffer.h"
#include "opencl_signature.h"

namespace tessera::opencl {

namespace {

/// The declaration is checked against what the compiler says of the parameters, so it is asked to keep that; and the
/// language is 1.2, which every device has, unless the program wants another.
std::string options_of(const KernelSource& source) {
  std::string options = "-cl-kernel-arg-info";
  if (source.opencl_options.find("-cl-std") == std::string::npos) options += " -cl-std=CL1.2";
  if (!source.opencl_options.empty()) options += " " + source.opencl_options;
  return options;
}

/// "'saxpy' and 'scale'" of "saxpy;scale".
std::string quoted(std::string names) {
  if (names.empty()) return "no kernel";
  std::string text = "'";
  for (const char letter : names) text += letter == ';' ? std::string("', '") : std::string(1, letter);
  return text + "'";
}

/// Local memory that a launch takes beside what its local parameters ask for: the kernel's own arrays, and what drivers
/// add for each local parameter (NVIDIA: its alignment). What drivers add shows only once the parameters are set, so
/// they are set to a trial size here.
std::uint64_t fixed_local_bytes(const CompiledKernel& kernel, const std::vector<Parameter>& parameters) {
  constexpr std::uint64_t kTrialBytes = 16;
  std::uint64_t asked = 0;
  for (cl_uint i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != ParameterKind::local) continue;
    kernel.set(i, kTrialBytes, nullptr);
    asked += kTrialBytes;
  }
  const std::uint64_t used = kernel.local_memory_bytes();
  return used - std::min(used, asked);  // some drivers do not count parameters at all
}

bool holds(const std::string& names, const std::string& name) {
  return (";" + names + ";").find(";" + name + ";") != std::string::npos;
}

}  // namespace

std::unique_ptr<OpenclOwnKernel> compile_own_kernel(const std::shared_ptr<OpenclContext>& context,
                                                    OpenclPrograms& programs, const KernelSource& source) {
  if (source.opencl.empty()) {
    throw Error(ErrorCode::unsupported, "kernel '" + source.name + "' has no OpenCL C source, so '" +
                                            context->device_name() + "' cannot run it");
  }
  const Handle<cl_program> program = programs.build({source.name, source.opencl, options_of(source)});
  const std::string names = programs.kernel_names(program.get());
  if (!holds(names, source.name)) {
    throw Error(ErrorCode::invalid_argument,
                "kernel '" + source.name + "' is not in its OpenCL C source, which holds " + quoted(names));
  }
  auto kernel = std::make_unique<CompiledKernel>(context, program.get(), source.name);
  check_signature(*kernel, source.parameters);
  return std::make_unique<OpenclOwnKernel>(std::move(kernel), source.parameters);
}

OpenclOwnKernel::OpenclOwnKernel(std::unique_ptr<CompiledKernel> kernel, const std::vector<Parameter>& parameters)
    : kernel_(std::move(kernel)), required_group_(kernel_->required_group()) {
  const std::uint64_t device_bytes = kernel_->context().facts().info.local_memory_bytes;
  limits_.max_group_size = kernel_->max_group_size();
  limits_.local_memory_bytes = device_bytes - std::min(device_bytes, fixed_local_bytes(*kernel_, parameters));
  limits_.preferred_group_multiple = kernel_->preferred_group_multiple();
}

void OpenclOwnKernel::check_required_group(const Extent3& group) const {
  const auto& required = required_group_;
  if (required[0] == 0 || (required[0] == group.x && required[1] == group.y && required[2] == group.z)) return;
  const auto text = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
  };
  throw Error(ErrorCode::invalid_argument, "group_size of kernel '" + kernel_->name() + "' is " +
                                               text(group.x, group.y, group.z) + ", but its source requires " +
                                               text(required[0], required[1], required[2]));
}

void OpenclOwnKernel::launch(backend::Queue& queue, const LaunchShape& shape,
                             std::span<const backend::Argument> arguments) {
  check_required_group(shape.group_size);
  const Extent3& groups = shape.groups;
  const Extent3& group = shape.group_size;
  if (groups.volume() == 0) return;
  NdRange range{1, {groups.x * group.x, groups.y * group.y, groups.z * group.z}, {group.x, group.y, group.z}};
  if (range.global[1] > 1) range.dimensions = 2;
  if (range.global[2] > 1) range.dimensions = 3;

  // Commands hold on to the memory that they use, so the parts may go when launch() returns.
  std::vector<Handle<cl_mem>> parts;
  const std::lock_guard lock(kernel_->mutex());
  for (cl_uint i = 0; i < arguments.size(); ++i) {
    const backend::Argument& argument = arguments[i];
    switch (argument.kind) {
      case ParameterKind::input:
      case ParameterKind::output: {
        Handle<cl_mem> part = sub_buffer(kernel_->context(), argument.buffer);
        kernel_->set(i, part ? part.get() : native(argument.buffer));
        if (part) parts.push_back(std::move(part));
        break;
      }
      case ParameterKind::scalar: kernel_->set(i, size_bytes(argument.type), argument.scalar.data()); break;
      case ParameterKind::local: kernel_->set(i, argument.local_bytes, nullptr); break;
    }
  }
  static_cast<OpenclQueue&>(queue).launch(kernel_->native(), range);
}

}  // namespace tessera::opencl
