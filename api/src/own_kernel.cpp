// The program's own kernels: the declaration is checked when they are compiled, every argument when they are launched.
#include <tessera/device.h>
#include <tessera/queue.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "backend/sentence.h"
#include "boundary.h"
#include "core_of.h"
#include "device_core.h"
#include "kernel_core.h"
#include "making.h"
#include "queue_core.h"
#include "refuse.h"
#include "shared_memory.h"

namespace tessera {
namespace {

using backend::sentence;
using detail::KernelCore;
using detail::LaunchArgument;
using detail::refuse;

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void check_source(const KernelSource& source) {
  if (!is_identifier(source.name)) {
    refuse(sentence("the kernel's name is '", source.name, "', but must be an identifier: letters, digits and '_'"));
  }
  if (source.opencl.empty() && source.cuda.empty() && !source.cpu) {
    refuse(sentence("the kernel '", source.name, "' has no source: .opencl, .cuda and .cpu are all empty"));
  }
  std::set<std::string> names;
  for (const Parameter& parameter : source.parameters) {
    if (!is_identifier(parameter.name)) {
      refuse(sentence("parameter ", names.size(), " of the kernel '", source.name, "' is named '", parameter.name,
                      "', but must be an identifier: letters, digits and '_'"));
    }
    if (!names.insert(parameter.name).second) {
      refuse(sentence("the kernel '", source.name, "' declares the parameter '", parameter.name, "' twice"));
    }
  }
}

/// "an output buffer of float32"
std::string describe(ParameterKind kind, DataType type) {
  switch (kind) {
    case ParameterKind::input: return sentence("a read-only buffer of ", to_string(type));
    case ParameterKind::output: return sentence("a writable buffer of ", to_string(type));
    case ParameterKind::scalar: return sentence("a number of type ", to_string(type));
    case ParameterKind::local: return sentence("local memory of ", to_string(type));
  }
  return "an argument";
}

bool matches(const Parameter& parameter, const LaunchArgument& argument) {
  if (parameter.type != argument.type) return false;
  if (parameter.kind == argument.kind) return true;
  return parameter.kind == ParameterKind::input && argument.kind == ParameterKind::output;
}

void check_arguments(const KernelCore& kernel, const detail::QueueCore& queue,
                     std::span<const LaunchArgument> arguments) {
  const std::string& name = kernel.info().operator_name;
  const auto& parameters = kernel.parameters();
  if (arguments.size() != parameters.size()) {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) names.push_back(parameter.name);
    refuse(sentence("the kernel '", name, "' is launched with ", arguments.size(), " arguments, but takes ",
                    parameters.size(), ": ", backend::enumerate(names)));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const LaunchArgument& argument = arguments[i];
    const bool is_buffer = argument.kind == ParameterKind::input || argument.kind == ParameterKind::output;
    if (!matches(parameter, argument)) {
      refuse(sentence("argument '", parameter.name, "' of the kernel '", name, "' is ",
                      describe(argument.kind, argument.type), ", but must be ",
                      describe(parameter.kind, parameter.type)));
    }
    if (is_buffer && !argument.view) {
      refuse(sentence("argument '", parameter.name, "' of the kernel '", name,
                      "' holds nothing: it was never allocated, was reset or was moved from"));
    }
    if (is_buffer && argument.view.block()->device() != queue.device()) {
      refuse(sentence("argument '", parameter.name, "' of the kernel '", name, "' lives on ",
                      argument.view.device_name(), ", but ", queue.description(), " is of another device",
                      argument.view.device_name() == queue.device()->id() ? " opening" : ""));
    }
    if (argument.kind == ParameterKind::local && argument.local_count == 0) {
      refuse(sentence("argument '", parameter.name, "' of the kernel '", name,
                      "' is local memory of 0 elements, but must have at least 1"));
    }
  }
}

void check_extent(const std::string& name, const char* what, std::uint64_t value, std::uint64_t limit) {
  if (value == 0) refuse(sentence("the ", what, " of the launch of '", name, "' is 0, but must be at least 1"));
  if (value > limit)
    refuse(sentence("the ", what, " of the launch of '", name, "' is ", value, ", but must be at most ", limit));
}

void check_shape(const KernelCore& kernel, const LaunchShape& shape) {
  const std::string& name = kernel.info().operator_name;
  const auto& extents = kernel.device()->info_when_opened().max_group_extent;
  check_extent(name, "group size in x", shape.group_size.x, extents[0]);
  check_extent(name, "group size in y", shape.group_size.y, extents[1]);
  check_extent(name, "group size in z", shape.group_size.z, extents[2]);
  check_extent(name, "group size", shape.group_size.volume(), kernel.limits().max_group_size);
  // Work-items are numbered in 64 bits: along each extent, and groups all together.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  check_extent(name, "number of groups in x", shape.groups.x, kMost / shape.group_size.x);
  check_extent(name, "number of groups in y", shape.groups.y, kMost / shape.group_size.y / shape.groups.x);
  check_extent(name, "number of groups in z", shape.groups.z,
               kMost / shape.group_size.z / shape.groups.x / shape.groups.y);
}

void check_local_memory(const KernelCore& kernel, std::span<const LaunchArgument> arguments) {
  std::uint64_t total = 0;
  const std::uint64_t limit = kernel.limits().local_memory_bytes;
  for (const LaunchArgument& argument : arguments) {
    if (argument.kind != ParameterKind::local) continue;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(argument.local_count, size_bytes(argument.type), &bytes) ||
        __builtin_add_overflow(total, bytes, &total)) {
      total = UINT64_MAX;
      break;
    }
  }
  if (total > limit) {
    refuse(sentence("the local memory of the launch of '", kernel.info().operator_name, "' is ", total,
                    " bytes, but on ", kernel.device()->id(), " must be at most ", limit));
  }
}

/// The function with a mark: while it runs, its thread is known to execute a command. If it runs out of memory there,
/// it must not wait for the queue that it runs on.
CpuFunction inside_command(const CpuFunction& function) {
  return function.with_call([function](const WorkGroup& group, std::span<const detail::HostArgument> arguments) {
    const detail::InsideCommand inside;
    function(group, arguments);
  });
}

}  // namespace

OwnKernel Device::compile(const KernelSource& source) const {
  return detail::at_boundary([&] {
    const auto& core = core_;
    detail::core_of(core, "device").refuse_elsewhere();
    check_source(source);
    try {
      detail::KernelMaking making(core->id(), source.name);
      KernelSource own = source;
      if (own.cpu) own.cpu = inside_command(own.cpu);
      auto kernel = core->shared_memory().with_reclaim([&] { return core->device().compile(own); });
      KernelInfo info;
      info.operator_name = source.name;
      info.variant = "own";
      info.device = core->id();
      info.label = source.label;
      auto made = std::make_shared<KernelCore>(core, std::move(info), std::move(kernel), source.parameters);
      making.made(*made->description());
      return OwnKernel(std::move(made));
    } catch (const Error& error) {
      throw error.while_doing(sentence("compiling the kernel '", source.name, "' for ", core->id()));
    }
  });
}

void Queue::launch_arguments(const OwnKernel& kernel, const LaunchShape& shape,
                             std::span<const LaunchArgument> arguments) {
  detail::at_boundary([&] {
    if (core_ == nullptr) refuse("the queue holds nothing: it was moved from");
    KernelCore& core = detail::core_of(kernel.core(), "kernel");
    if (core.device() != core_->device()) {
      refuse(sentence(core_->description(), " is asked to launch the kernel '", core.info().operator_name,
                      "', which was compiled for ", core.device()->id(),
                      core.device()->id() == core_->device()->id() ? ", opened another time" : ""));
    }
    check_shape(core, shape);
    check_arguments(core, *core_, arguments);
    check_local_memory(core, arguments);

    std::vector<backend::Argument> native;
    std::vector<const UntypedView*> views;
    for (const LaunchArgument& argument : arguments) {
      backend::Argument translated;
      translated.kind = core.parameters()[native.size()].kind;
      translated.type = argument.type;
      translated.scalar = argument.scalar;
      translated.local_bytes = argument.local_count * size_bytes(argument.type);
      if (argument.view) {
        translated.buffer = detail::slice_of(argument.view);
        views.push_back(&argument.view);
      }
      native.push_back(translated);
    }
    core_->submit(detail::Command{detail::CommandKind::run, core.description()}, views, {.kernel = kernel.core()},
                  [&](backend::Queue& queue) { core.own_kernel().launch(queue, shape, native); });
  });
}

}  // namespace tessera
