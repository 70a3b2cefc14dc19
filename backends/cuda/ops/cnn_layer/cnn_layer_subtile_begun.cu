// cnn_layer, subtile whose sums are not filled with zeros: the first step's products begin them, which tries what the
// published study suspected (docs/studies/cnn_layer.md). For sub-tiles of kCnnLayerFormFloats and kCnnLayerFormDoubles
// channels. How it computes: cnn_layer_subtile.cuh.
#include "ops/cnn_layer/cnn_layer_subtile.cuh"

TESSERA_CNN_LAYER_FLOATS(subtile_begun, true, false, 8)
TESSERA_CNN_LAYER_DOUBLES(subtile_begun, true, false, 4)
TESSERA_CNN_LAYER_FLOATS(subtile_split_begun, false, false, 8)
TESSERA_CNN_LAYER_DOUBLES(subtile_split_begun, false, false, 4)
