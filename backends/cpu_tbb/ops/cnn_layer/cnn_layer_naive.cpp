// The variant "naive": the plain loops of cnn_layer_plain.h (its picture is there), output channels dealt to the
// threads. Nothing is reused on purpose; what it gains over "sequential" is threads alone.
#include "ops/cnn_layer/cnn_layer_plain.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<CnnLayer> cnn_layer_naive() {
  return {
      .name = "naive",
      .summary = "plain loops, output channels spread over the threads",
      .check = [](const CnnLayer&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const CnnLayer& problem, backend::Device&, const Tuning&) {
            return make_cnn_layer_kernel(problem, []<class T>(Executor& executor, const CnnOperands<T>& layer) {
              executor.parallel_for(layer.problem.batch * layer.problem.output_channels,
                                    [&](std::int64_t first, std::int64_t last) { cnn_planes(layer, first, last); });
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
