// The variants of cnn_layer, best first, plain one last.
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::opencl {

backend::VariantList<CnnLayer> cnn_layer_variants() {
  return {cnn_layer_winograd_split(),      cnn_layer_winograd(), cnn_layer_implicit_gemm_panels(),
          cnn_layer_implicit_gemm_local(), cnn_layer_subtile(),  cnn_layer_naive()};
}

}  // namespace tessera::opencl
