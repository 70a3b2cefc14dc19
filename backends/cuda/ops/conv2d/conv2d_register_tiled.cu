// conv2d, register_tiled: see conv2d_register_tiled.cuh for the picture. Floats, and integers whose sums float holds.
#include "ops/conv2d/conv2d_register_tiled.cuh"

TESSERA_CONV2D_REGISTER_TILED_ALL(float, float32)
