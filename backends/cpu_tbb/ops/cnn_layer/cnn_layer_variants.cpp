// The order of the list is the order of choice. oneDNN stands behind our own best ones, which accept every problem, so
// that it is not taken unless asked for.
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cpu_tbb {

backend::VariantList<CnnLayer> cnn_layer_variants() {
  return {cnn_layer_winograd(),      cnn_layer_implicit_gemm(), cnn_layer_subtile(),
          cnn_layer_vendor_onednn(), cnn_layer_naive(),         cnn_layer_sequential()};
}

}  // namespace tessera::cpu_tbb
