// Lists the variants of cnn_layer, and launches naive. A new variant is a .cu file, a .cpp file and a row below.
#include "ops/cnn_layer/cnn_layer_variants.h"

#include "cuda_embedded.h"
#include "ops/cnn_layer/cnn_layer_launch.h"

namespace tessera::cuda {
namespace {

template <class T>
class CnnLayerNaive final : public CudaKernel {
 public:
  CnnLayerNaive(const std::shared_ptr<Context>& context, const CnnLayer& problem)
      : CudaKernel(context, embedded::cnn_layer_naive,
                   backend::sentence("tessera_cnn_layer_naive_", to_string(problem.type)),
                   output_grid(problem, context->limits())),
        arguments_(cnn_layer_arguments<T>(problem)) {}

  void launch(backend::Queue& queue, std::span<const backend::Slice> operands,
              const backend::Slice& /*workspace*/) override {
    if (arguments_.batch == 0) return;
    CnnLayerArguments<T> arguments = arguments_;  // a kernel may be launched on several queues at once
    arguments.input = pointer_to<const T>(operands[0]);
    arguments.weights = pointer_to<const T>(operands[1]);
    arguments.bias = pointer_to<const T>(operands[2]);
    arguments.output = pointer_to<T>(operands[3]);
    enqueue(queue, arguments);
  }

 private:
  CnnLayerArguments<T> arguments_;
};

}  // namespace

backend::Variant<CnnLayer> cnn_layer_naive() {
  return {
      .name = "naive",
      .summary = "one thread an output, from device memory",
      .check = check_output_grid,
      .tunables = nullptr,
      .make =
          [](const CnnLayer& problem, backend::Device& device, const Tuning&) {
            const std::shared_ptr<Context>& context = static_cast<CudaDevice&>(device).context();
            return for_element(problem.type, [&](auto element) -> std::unique_ptr<backend::Kernel> {
              return std::make_unique<CnnLayerNaive<decltype(element)>>(context, problem);
            });
          },
  };
}

backend::VariantList<CnnLayer> cnn_layer_variants() {
  return {
      cnn_layer_winograd(), cnn_layer_implicit_gemm(), cnn_layer_subtile(), cnn_layer_vendor_cudnn(), cnn_layer_naive(),
  };
}

}  // namespace tessera::cuda
