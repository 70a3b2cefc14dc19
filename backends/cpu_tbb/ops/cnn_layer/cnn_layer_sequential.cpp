// The variant "sequential": the plain loops of cnn_layer_plain.h (its picture is there) on the queue's own thread. It
// must stay so: it is the baseline of every speed-up that is reported.
#include "ops/cnn_layer/cnn_layer_plain.h"
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

backend::Variant<CnnLayer> cnn_layer_sequential() {
  return {
      .name = "sequential",
      .summary = "plain loops on one thread, one output after another",
      .check = [](const CnnLayer&, const backend::Device&) { return backend::Verdict::yes(); },
      .tunables = nullptr,
      .make =
          [](const CnnLayer& problem, backend::Device&, const Tuning&) {
            return make_cnn_layer_kernel(problem, []<class T>(Executor&, const CnnOperands<T>& layer) {
              cnn_planes(layer, 0, layer.problem.batch * layer.problem.output_channels);
            });
          },
  };
}

}  // namespace tessera::cpu_tbb
