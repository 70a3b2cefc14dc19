// Compiling, checking and launching a program's own kernel.
#include "cuda_own_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/disk_cache.h"
#include "backend/program_log.h"
#include "backend/sentence.h"
#include "cuda_buffer.h"
#include "cuda_compiler.h"
#include "cuda_error.h"
#include "cuda_queue.h"

namespace tessera::cuda {
namespace {

using backend::sentence;

/// Where each local parameter begins in the dynamic shared memory: enough for the largest vector type, as float4.
constexpr std::size_t kLocalAlignment = 16;

std::unique_ptr<Module> load_from_cache(const Context& context, const backend::DiskCache& cache, const std::string& key,
                                        const std::string& name) {
  const auto image = key.empty() ? std::nullopt : cache.find(key);
  if (!image) return nullptr;
  try {
    return std::make_unique<Module>(context, *image, name);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost || error.code() == ErrorCode::out_of_memory) throw;
    return nullptr;  // whole, but not what this driver loads: compile it again
  }
}

std::size_t size_on_device(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::input:
    case ParameterKind::output: return sizeof(CUdeviceptr);
    case ParameterKind::scalar: return size_bytes(parameter.type);
    case ParameterKind::local: return sizeof(unsigned);
  }
  return 0;
}

std::string what_it_should_be(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::input:
    case ParameterKind::output: return sentence("a pointer to ", to_string(parameter.type));
    case ParameterKind::scalar: return sentence("a ", to_string(parameter.type));
    case ParameterKind::local: return "the unsigned offset of local memory";
  }
  return {};
}

std::array<std::uint64_t, 3> in_order(const Extent3& extent) {
  return {extent.x, extent.y, extent.z};
}

/// The extents as the driver takes them, or an error that names the limit of the card.
std::array<unsigned, 3> within(const Extent3& extent, const std::array<std::uint64_t, 3>& limit, const char* what,
                               const std::string& name) {
  const std::array<std::uint64_t, 3> values = in_order(extent);
  std::array<unsigned, 3> narrowed{};
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    if (values[axis] > limit[axis]) {
      throw Error(ErrorCode::unsupported, sentence(what, ".", "xyz"[axis], " of ", name, " is ", values[axis],
                                                   ", but must be at most ", limit[axis], " on this card"));
    }
    narrowed[axis] = static_cast<unsigned>(values[axis]);
  }
  return narrowed;
}

}  // namespace

CudaOwnKernel::CudaOwnKernel(std::shared_ptr<Context> context, const KernelSource& source)
    : context_(std::move(context)), name_(source.name) {
  if (source.cuda.empty()) {
    throw Error(ErrorCode::unsupported, sentence("kernel ", name_, " has no CUDA source"));
  }
  load(source);
  check_parameters(source);
  ask_limits(source);
}

void CudaOwnKernel::load(const KernelSource& source) {
  const backend::ProgramLog log(name_);
  const DeviceLimits& card = context_->limits();
  const std::string architecture = architecture_for(card.compute_capability_major, card.compute_capability_minor);
  const std::string key = cache_key(source.cuda, source.cuda_options, architecture, name_);
  const backend::DiskCache cache("cuda");
  module_ = load_from_cache(*context_, cache, key, name_);
  const auto origin = module_ != nullptr ? backend::ProgramOrigin::disk_cache : backend::ProgramOrigin::compiler;
  if (module_ == nullptr) {
    const std::vector<std::byte> image = compile_to_cubin(source.cuda, source.cuda_options, architecture, name_);
    module_ = std::make_unique<Module>(*context_, image, name_);
    if (!key.empty()) cache.store(key, image);
  }
  log.came_from(origin);
  function_ = module_->find(name_);
  if (function_ == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                sentence("the CUDA source of kernel ", name_, " holds no extern \"C\" __global__ function ", name_));
  }
}

void CudaOwnKernel::check_parameters(const KernelSource& source) const {
  const auto ask = context_->api().cuFuncGetParamInfo;
  if (ask == nullptr) return;  // the driver is older than 12.4 and cannot tell
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t count = 0;
  while (ask(function_, count, &offset, &size) == CUDA_SUCCESS) ++count;
  if (count != source.parameters.size()) {
    throw Error(ErrorCode::invalid_argument, sentence("kernel ", name_, " takes ", count, " parameters in CUDA, but ",
                                                      source.parameters.size(), " are declared"));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& declared = source.parameters[i];
    check(ask(function_, i, &offset, &size), sentence("asking for a parameter of kernel ", name_));
    if (size != size_on_device(declared)) {
      throw Error(ErrorCode::invalid_argument,
                  sentence("parameter ", declared.name, " of kernel ", name_, " has ", size,
                           " bytes in CUDA, but is declared as ", what_it_should_be(declared), " of ",
                           size_on_device(declared), " bytes"));
    }
  }
}

int CudaOwnKernel::function_attribute(CUfunction_attribute which) const {
  int value = 0;
  check(context_->api().cuFuncGetAttribute(&value, which, function_),
        sentence("asking for the limits of kernel ", name_));
  return value;
}

void CudaOwnKernel::ask_limits(const KernelSource& source) {
  limits_.max_group_size = static_cast<std::uint64_t>(function_attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  limits_.preferred_group_multiple = context_->limits().warp_size;
  const auto of_the_source = static_cast<std::uint64_t>(function_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  const std::uint64_t of_the_card = context_->limits().shared_bytes;
  limits_.local_memory_bytes = of_the_card > of_the_source ? of_the_card - of_the_source : 0;
  const bool has_local = std::any_of(source.parameters.begin(), source.parameters.end(),
                                     [](const Parameter& parameter) { return parameter.kind == ParameterKind::local; });
  // A kernel gets more than 48 KB only after this. Once here, so that launches need not care; it reserves nothing.
  if (has_local && limits_.local_memory_bytes > 0) {
    check(context_->api().cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(limits_.local_memory_bytes)),
          sentence("raising the shared memory of kernel ", name_));
  }
}

void CudaOwnKernel::launch(backend::Queue& queue, const LaunchShape& shape,
                           std::span<const backend::Argument> arguments) {
  const DeviceLimits& card = context_->limits();
  LaunchGrid grid;
  grid.groups = within(shape.groups, card.groups, "groups", name_);
  grid.group_size = within(shape.group_size, card.group_size, "group_size", name_);
  if (shape.groups.volume() == 0) return;

  std::vector<std::uint64_t> values(arguments.size());  // each in its first bytes, as the parameter's own type
  std::vector<void*> parameters(arguments.size());
  std::size_t local_bytes = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const backend::Argument& argument = arguments[i];
    switch (argument.kind) {
      case ParameterKind::input:
      case ParameterKind::output: values[i] = address_of(argument.buffer); break;
      case ParameterKind::scalar: std::memcpy(&values[i], argument.scalar.data(), sizeof(values[i])); break;
      case ParameterKind::local: {
        const auto offset = static_cast<unsigned>(local_bytes);
        std::memcpy(&values[i], &offset, sizeof(offset));
        local_bytes += (argument.local_bytes + kLocalAlignment - 1) / kLocalAlignment * kLocalAlignment;
        break;
      }
    }
    parameters[i] = &values[i];
    if (local_bytes > limits_.local_memory_bytes) {
      throw Error(ErrorCode::unsupported,
                  sentence("local memory of ", name_, " is ", local_bytes, " bytes, each part rounded up to ",
                           kLocalAlignment, ", but must be at most ", limits_.local_memory_bytes));
    }
  }
  grid.dynamic_shared_bytes = static_cast<unsigned>(local_bytes);
  auto& cuda_queue = static_cast<CudaQueue&>(queue);
  cuda_queue.launch(function_, grid, parameters.data());
  cuda_queue.mark_progress();
}

}  // namespace tessera::cuda
