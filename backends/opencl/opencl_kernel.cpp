// Makes, asks and launches kernels.
#include "opencl_kernel.h"

#include <algorithm>
#include <utility>

#include "opencl_buffer.h"

namespace tessera::opencl {

CompiledKernel::CompiledKernel(std::shared_ptr<OpenclContext> context, cl_program program, std::string name)
    : context_(std::move(context)), name_(std::move(name)) {
  cl_int code = CL_SUCCESS;
  kernel_ = {context_->api().clCreateKernel(program, name_.c_str(), &code), context_->api().clReleaseKernel};
  if (code != CL_SUCCESS) {
    throw_error(code, Stage::build,
                "kernel '" + name_ + "' cannot be made on '" + context_->device_name() + "' from its compiled program");
  }
}

template <class Value>
Value CompiledKernel::ask(cl_kernel_work_group_info what) const {
  Value value{};
  context_->check(context_->api().clGetKernelWorkGroupInfo(native(), context_->facts().device, what, sizeof(value),
                                                           &value, nullptr),
                  "clGetKernelWorkGroupInfo");
  return value;
}

cl_uint CompiledKernel::argument_count() const {
  cl_uint count = 0;
  context_->check(context_->api().clGetKernelInfo(native(), CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr),
                  "clGetKernelInfo");
  return count;
}

std::uint64_t CompiledKernel::max_group_size() const {
  const std::uint64_t limit = ask<std::size_t>(CL_KERNEL_WORK_GROUP_SIZE);
  if (!context_->facts().is_nvidia) return limit;
  // NVIDIA's driver 580 answers 256 for every kernel, even for one that was built for a larger group and runs with it.
  const std::array<std::size_t, 3> required = required_group();
  return std::max<std::uint64_t>(limit, required[0] * required[1] * required[2]);
}

std::uint64_t CompiledKernel::local_memory_bytes() const {
  return ask<cl_ulong>(CL_KERNEL_LOCAL_MEM_SIZE);
}

std::uint64_t CompiledKernel::preferred_group_multiple() const {
  return std::max<std::uint64_t>(ask<std::size_t>(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 1);
}

std::array<std::size_t, 3> CompiledKernel::required_group() const {
  return ask<std::array<std::size_t, 3>>(CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
}

void CompiledKernel::set(cl_uint index, std::size_t size_bytes, const void* value) const {
  const cl_int code = context_->api().clSetKernelArg(native(), index, size_bytes, value);
  if (code != CL_SUCCESS) [[unlikely]] {
    throw_error(code, Stage::request,
                "argument " + std::to_string(index) + " of kernel '" + name_ + "', " + std::to_string(size_bytes) +
                    " bytes, is refused by the driver");
  }
}

void enqueue(const OperatorLaunch& launch, OpenclQueue& queue, std::span<const backend::Slice> operands,
             const backend::Slice& workspace, std::optional<cl_long> round, Stage stage) {
  const std::lock_guard lock(launch.kernel->mutex());
  cl_uint index = 0;
  for (const MemoryArgument& argument : launch.memory) {
    if (argument.place == MemoryArgument::kCounters) {
      launch.kernel->set(index++, queue.counters());
      launch.kernel->set(index++, cl_ulong{0});
      continue;
    }
    const backend::Slice& slice = argument.place == MemoryArgument::kWorkspace ? workspace : operands[argument.place];
    const cl_ulong first_element = slice.offset_bytes / size_bytes(argument.type) + argument.first_element;
    launch.kernel->set(index++, native(slice));
    launch.kernel->set(index++, first_element);
  }
  if (round) launch.kernel->set(index + launch.struct_count, *round);
  queue.launch(launch.kernel->native(), launch.range, stage);
}

namespace {

void run_all(const std::vector<OperatorLaunch>& launches, OpenclQueue& queue, std::span<const backend::Slice> operands,
             const backend::Slice& workspace, std::optional<cl_long> round = {}, Stage stage = Stage::launch) {
  for (const OperatorLaunch& launch : launches) {
    enqueue(launch, queue, operands, workspace, round, stage);
    stage = Stage::rest;
  }
}

std::vector<OperatorLaunch> only(OperatorLaunch launch) {
  std::vector<OperatorLaunch> launches;
  launches.push_back(std::move(launch));
  return launches;
}

}  // namespace

OpenclKernel::OpenclKernel(OperatorLaunch launch, Preparation preparation)
    : OpenclKernel(only(std::move(launch)), 0, std::move(preparation)) {}

OpenclKernel::OpenclKernel(std::vector<OperatorLaunch> launches, std::size_t workspace_bytes, Preparation preparation)
    : OpenclKernel(OperatorRun{.launches = std::move(launches)}, workspace_bytes, std::move(preparation)) {}

OpenclKernel::OpenclKernel(OperatorRun run, std::size_t workspace_bytes, Preparation preparation)
    : run_(std::move(run)), workspace_bytes_(workspace_bytes), preparation_(std::move(preparation)) {
  std::erase_if(run_.launches, [](const OperatorLaunch& launch) {
    const auto& global = launch.range.global;
    return std::find(global.begin(), global.end(), 0) != global.end();
  });
}

void OpenclKernel::launch(backend::Queue& queue, std::span<const backend::Slice> operands,
                          const backend::Slice& workspace) {
  auto& opencl = static_cast<OpenclQueue&>(queue);
  if (!run_.rounds) return run_all(run_.launches, opencl, operands, workspace);
  for (cl_long round = 0; round < *run_.rounds; ++round) {
    run_all(run_.launches, opencl, operands, workspace, round, round == 0 ? Stage::launch : Stage::rest);
  }
}

void OpenclKernel::prepare(backend::Queue& queue, const backend::Slice& weights, const backend::Slice& prepared,
                           const backend::Slice& workspace) {
  const std::array operands{weights, prepared};
  run_all(preparation_.launches, static_cast<OpenclQueue&>(queue), operands, workspace);
}

}  // namespace tessera::opencl
