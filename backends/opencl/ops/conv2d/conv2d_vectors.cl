// What the kernels of a work-item that marches alone share: vectors of COLUMNS pixels, and the weights of a filter of
// SIZE by value. Options: COLUMNS, SIZE, and those of conv2d_images.cl.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DSIZE=3 -DCOLUMNS=16
// Compiles alone with: -DPIXEL=float -DIS_FLOAT=1 -DSIZE=3 -DCOLUMNS=16
#include "ops/conv2d/conv2d_images.cl"

#define CONCATENATED(a, b) a##b
#define VECTOR_OF(type, count) CONCATENATED(type, count)
#define LOAD_OF(count) CONCATENATED(vload, count)
#define STORE_OF(count) CONCATENATED(vstore, count)
#if IS_FLOAT
typedef VECTOR_OF(float, COLUMNS) vector_t;
#else
typedef VECTOR_OF(uint, COLUMNS) vector_t;
#endif
#if IS_FLOAT
#define NUMBERS(pixels) (pixels)
#else
#define NUMBERS(pixels) VECTOR_OF(as_uint, COLUMNS)(VECTOR_OF(convert_int, COLUMNS)(pixels))
#endif
#define REACH (SIZE / 2)

typedef struct {
  sum_t weights[SIZE * SIZE];  // row by row; for a separable filter its column, then its row
} Weights;
SIZE_ON_THE_HOST(Weights, 4 * SIZE * SIZE);
