// conv2d, register_tiled: see conv2d_register_tiled.cuh for the picture. Integers modulo 2^32.
#include "ops/conv2d/conv2d_register_tiled.cuh"

TESSERA_CONV2D_REGISTER_TILED_ALL(std::uint32_t, int32)
