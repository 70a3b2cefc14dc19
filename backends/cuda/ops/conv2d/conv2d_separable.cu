// conv2d, separable: the march of conv2d_marching.cuh (its picture is there) for filters that are a column times a row.
// At each row of the image a lane first adds K products along the row for each of its 4 pixels, then adds that sum,
// times the column's weights, to the K sums: 2 * K products for each pixel in place of K * K.
#include "ops/conv2d/conv2d_marching.cuh"

TESSERA_CONV2D_MARCHING_SIZES(separable, true, std::uint8_t, uint8)
TESSERA_CONV2D_MARCHING_SIZES(separable, true, std::int16_t, int16)
TESSERA_CONV2D_MARCHING_SIZES(separable, true, std::int32_t, int32)
TESSERA_CONV2D_MARCHING_SIZES(separable, true, float, float32)
