// What every conv2d kernel shares. Options: PIXEL (uchar, short, int, float) and IS_FLOAT, 0
// or 1.
//
//   output(y, x) = sum over (i, j) of weight(i, j) * image(y + i - anchor_y, x + j - anchor_x), outside of the image 0
//
// Sums of integers wrap around, which uint is allowed to; an int output is written through its bits.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0
// Compiles alone with: -DPIXEL=float -DIS_FLOAT=1
#include "ops/host_struct.cl"
#include "ops/quotient.cl"

#if IS_FLOAT
typedef float sum_t;
#define NUMBER(pixel) (pixel)
#define MULTIPLY_ADD(weight, pixel, sum) fma(weight, pixel, sum)
#else
typedef uint sum_t;
#define NUMBER(pixel) ((uint)(int)(pixel))
#define MULTIPLY_ADD(weight, pixel, sum) ((weight) * (pixel) + (sum))
#endif

// The problem, and what of it a group computes: the host's Conv2dScalars.
typedef struct {
  long height, width;
  long output_height, output_width;
  long block_rows;  // of the output, that a group computes
  int filter_height, filter_width;
  int anchor_y, anchor_x;
} Conv2d;
SIZE_ON_THE_HOST(Conv2d, 56);

// Every kernel's first parameters: two operands, each with the first element that is its own; then the problem.
#define CONV2D_PARAMETERS                                                                         \
  __global const PIXEL *restrict image, const ulong image_first, __global sum_t *restrict output, \
      const ulong output_first, const Conv2d conv2d

// Pixel (y, x) of an image as a number; 0 outside.
inline sum_t pixel_at(__global const PIXEL *restrict image, const long height, const long width, const long y,
                      const long x) {
  return y >= 0 && y < height && x >= 0 && x < width ? NUMBER(image[y * width + x]) : 0;
}

// Where a group's block of columns x rows begins. Groups stand in one line, columns first, then rows, then the images of
// a batch, so that no second extent has a limit.
typedef struct {
  long image;
  long row;
  long column;
} Place;
inline Place place_of_group(const long group, const long columns, const long rows, const long width,
                            const long height) {
  const long across = quotient(width + columns - 1, columns);
  const long down = quotient(height + rows - 1, rows);
  const long row = quotient(group, across);
  Place place;
  place.column = (group - row * across) * columns;
  place.image = quotient(row, down);
  place.row = (row - place.image * down) * rows;
  return place;
}
