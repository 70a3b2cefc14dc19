// Asks for a kernel's memory. OpenCL has no question for registers or for groups that fit. What the driver does not
// answer stays absent: a watch must not make a run fail.
#include "opencl_launch_watch.h"

#include <algorithm>
#include <optional>
#include <string>

#include "opencl_queue.h"

namespace tessera::opencl {

namespace {

LaunchFacts ask(const OpenclContext& context, cl_kernel kernel, std::uint64_t group_size) {
  const OpenclApi& api = context.api();
  const auto number = [&](cl_kernel_work_group_info what) -> std::optional<std::uint64_t> {
    cl_ulong value = 0;
    if (api.clGetKernelWorkGroupInfo(kernel, context.facts().device, what, sizeof(value), &value, nullptr) !=
        CL_SUCCESS)
      return std::nullopt;
    return value;
  };
  LaunchFacts facts;
  facts.group_size = group_size;
  std::size_t size = 0;
  if (api.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size) == CL_SUCCESS && size > 0) {
    std::string name(size, '\0');
    if (api.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(), nullptr) == CL_SUCCESS)
      facts.function = name.c_str();  // without the zero at its end
  }
  facts.spilled_bytes = number(CL_KERNEL_PRIVATE_MEM_SIZE);
  facts.local_memory_bytes = number(CL_KERNEL_LOCAL_MEM_SIZE);
  // On a processor 0 tells nothing: PoCL 4 to 6 say so of every kernel.
  if (facts.local_memory_bytes == 0U && context.facts().info.kind == DeviceKind::cpu) facts.local_memory_bytes.reset();
  return facts;
}

}  // namespace

void LaunchWatch::note(const OpenclContext& context, cl_kernel kernel, const NdRange& range) {
  std::uint64_t group_size = 1;
  std::uint64_t items = 1;
  for (cl_uint axis = 0; axis < range.dimensions; ++axis) {
    group_size *= range.local[axis];
    items *= range.global[axis];
  }
  const auto [place, is_new] = places_.try_emplace(Key{kernel, group_size}, facts_.size());
  if (is_new) facts_.push_back(ask(context, kernel, group_size));
  LaunchFacts& facts = facts_[place->second];
  ++facts.launches;
  if (group_size > 0) facts.groups = std::max(facts.groups, items / group_size);
}

}  // namespace tessera::opencl
