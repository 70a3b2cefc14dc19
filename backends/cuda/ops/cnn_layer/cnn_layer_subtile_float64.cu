// cnn_layer, subtile: float64, one kernel for each size of a sub-tile. How it computes: cnn_layer_subtile.cuh.
#include "ops/cnn_layer/cnn_layer_subtile.cuh"

TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 2, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 2, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 4, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 4, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 2, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 2, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 4, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 4, 4)
