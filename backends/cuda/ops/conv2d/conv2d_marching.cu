// conv2d, marching: see conv2d_marching.cuh for the picture. K * K products for each pixel, filters of 3, 5 and 7.
#include "ops/conv2d/conv2d_marching.cuh"

TESSERA_CONV2D_MARCHING_SIZES(marching, false, std::uint8_t, uint8)
TESSERA_CONV2D_MARCHING_SIZES(marching, false, std::int16_t, int16)
TESSERA_CONV2D_MARCHING_SIZES(marching, false, std::int32_t, int32)
TESSERA_CONV2D_MARCHING_SIZES(marching, false, float, float32)
