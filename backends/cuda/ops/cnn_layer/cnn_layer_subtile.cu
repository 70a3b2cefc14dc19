// cnn_layer, subtile: one kernel for each type and size of a sub-tile. How it computes: cnn_layer_subtile.cuh.
#include "ops/cnn_layer/cnn_layer_subtile.cuh"

#define TESSERA_FLOAT(name, is_fused, channels, rows, columns) \
  TESSERA_CNN_LAYER_SUBTILE(name, is_fused, float, float32, channels, rows, columns)
#define TESSERA_FLOATS(name, is_fused, channels) \
  TESSERA_FLOAT(name, is_fused, channels, 1, 1)  \
  TESSERA_FLOAT(name, is_fused, channels, 1, 2)  \
  TESSERA_FLOAT(name, is_fused, channels, 1, 4)  \
  TESSERA_FLOAT(name, is_fused, channels, 2, 1)  \
  TESSERA_FLOAT(name, is_fused, channels, 2, 2)  \
  TESSERA_FLOAT(name, is_fused, channels, 2, 4)  \
  TESSERA_FLOAT(name, is_fused, channels, 4, 1)  \
  TESSERA_FLOAT(name, is_fused, channels, 4, 2)  \
  TESSERA_FLOAT(name, is_fused, channels, 4, 4)

#define TESSERA_DOUBLE(name, is_fused, channels, rows, columns) \
  TESSERA_CNN_LAYER_SUBTILE(name, is_fused, double, float64, channels, rows, columns)
#define TESSERA_DOUBLES(name, is_fused, channels) \
  TESSERA_DOUBLE(name, is_fused, channels, 2, 2)  \
  TESSERA_DOUBLE(name, is_fused, channels, 2, 4)  \
  TESSERA_DOUBLE(name, is_fused, channels, 4, 2)  \
  TESSERA_DOUBLE(name, is_fused, channels, 4, 4)

TESSERA_FLOATS(subtile, true, 1)
TESSERA_FLOATS(subtile, true, 4)
TESSERA_FLOATS(subtile, true, 8)
TESSERA_FLOATS(subtile, true, 16)
TESSERA_DOUBLES(subtile, true, 1)
TESSERA_DOUBLES(subtile, true, 4)

// The published study's three loops, where they are measured beside one: kCnnLayerSplitFloats and -Doubles.
TESSERA_FLOATS(subtile_split, false, 8)
TESSERA_DOUBLES(subtile_split, false, 4)
