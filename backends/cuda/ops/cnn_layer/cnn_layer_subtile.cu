// cnn_layer, subtile: one kernel for each type and size of a sub-tile. How it computes: cnn_layer_subtile.cuh.
#include "ops/cnn_layer/cnn_layer_subtile.cuh"

#define TESSERA_ROWS_AND_COLUMNS(channels)                  \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 1, 1) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 1, 2) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 1, 4) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 2, 1) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 2, 2) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 2, 4) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 4, 1) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 4, 2) \
  TESSERA_CNN_LAYER_SUBTILE(float, float32, channels, 4, 4)

TESSERA_ROWS_AND_COLUMNS(1)
TESSERA_ROWS_AND_COLUMNS(4)
TESSERA_ROWS_AND_COLUMNS(8)
TESSERA_ROWS_AND_COLUMNS(16)

TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 2, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 2, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 4, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 1, 4, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 2, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 2, 4)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 4, 2)
TESSERA_CNN_LAYER_SUBTILE(double, float64, 4, 4, 4)
