// cnn_layer, naive: one work-item an output. See cnn_layer_naive.cl.
#include "opencl_embedded.h"
#include "ops/cnn_layer/cnn_layer_launch.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::opencl {

namespace {

std::uint64_t outputs_of(const CnnLayer& problem) {
  return static_cast<std::uint64_t>(problem.batch) * static_cast<std::uint64_t>(cnn_layer_shape(problem).output_image);
}

backend::Verdict check(const CnnLayer& problem, const backend::Device& device) {
  const DeviceFacts& facts = native(device).facts();
  if (backend::Verdict verdict = check_cnn_layer_type(problem, facts); !verdict) return verdict;
  // One work-item a group is the smallest that a device may insist on.
  const std::uint64_t group = facts.info.max_group_size >= kLineGroup ? kLineGroup : 1;
  return check_groups("cnn_layer", outputs_of(problem) / group + 1);
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning& /*tuning*/) {
  const OpenclDevice& opencl = native(device);
  OperatorLaunch launch;
  launch.kernel = opencl.kernel(cnn_layer_program("cnn_layer_naive", embedded::cnn_layer_naive, problem));
  launch.range = line_of(*launch.kernel, outputs_of(problem));
  launch.memory = cnn_layer_operands(problem);
  launch.set_structs(cnn_layer_shape(problem));
  return std::make_unique<OpenclKernel>(std::move(launch));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_naive() {
  return {.name = "naive",
          .summary = "one work-item an output, from global memory",
          .check = check,
          .tunables = nullptr,
          .make = make};
}

}  // namespace tessera::opencl
