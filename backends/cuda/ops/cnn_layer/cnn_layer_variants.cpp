// The order of the list is the order of choice. cuDNN stands behind our own best ones, which take every problem between
// them, so that it is not taken unless asked for.
#include "ops/cnn_layer/cnn_layer_variants.h"

namespace tessera::cuda {

backend::VariantList<CnnLayer> cnn_layer_variants() {
  return {cnn_layer_winograd_split(), cnn_layer_winograd(), cnn_layer_implicit_gemm_split(),
          cnn_layer_implicit_gemm(),  cnn_layer_subtile(),  cnn_layer_vendor_cudnn(),
          cnn_layer_naive()};
}

}  // namespace tessera::cuda
