// cnn_layer, subtile: one kernel for each type and size of a sub-tile, whose sums begin at zero. Others:
// cnn_layer_subtile_begun.cu. How it computes: cnn_layer_subtile.cuh.
#include "ops/cnn_layer/cnn_layer_subtile.cuh"

TESSERA_CNN_LAYER_FLOATS(subtile, true, true, 1)
TESSERA_CNN_LAYER_FLOATS(subtile, true, true, 4)
TESSERA_CNN_LAYER_FLOATS(subtile, true, true, 8)
TESSERA_CNN_LAYER_FLOATS(subtile, true, true, 16)
TESSERA_CNN_LAYER_DOUBLES(subtile, true, true, 1)
TESSERA_CNN_LAYER_DOUBLES(subtile, true, true, 4)

// The published study's three loops, where they are measured beside one: kCnnLayerFormFloats and -Doubles.
TESSERA_CNN_LAYER_FLOATS(subtile_split, false, true, 8)
TESSERA_CNN_LAYER_DOUBLES(subtile_split, false, true, 4)
