// Rows of an image as numbers in local memory, for kernels whose work-items each take several neighbouring numbers.
//
//     0 ... 31 free 32 ... 63 free 64 ...      After every 32 numbers 4 places stay free. So 8 work-items that read 4
//    +--------+----+---------+----+---         numbers each, 8 or 16 apart, find them in different banks; without
//                                              that, those 32 apart would wait for each other. Work-items with
//                                              numbers beside each other do not notice.
//
// Pixels outside of the image stand there as zeros, so that no product asks. EXACT_INTEGERS is 1 where pixels are
// integers whose sums are exact in float: IS_FLOAT is 1 too then, and the output's int is written through its bits.
//
// Compiles alone with: -DPIXEL=int -DIS_FLOAT=0 -DEXACT_INTEGERS=0 -DSTRIP=128 -DFETCHED=6
// Compiles alone with: -DPIXEL=uchar -DIS_FLOAT=1 -DEXACT_INTEGERS=1 -DSTRIP=64 -DFETCHED=3
#include "ops/conv2d/conv2d_images.cl"

#if IS_FLOAT
typedef float4 numbers4_t;
#else
typedef uint4 numbers4_t;
#endif
#if EXACT_INTEGERS
#define AS_NUMBER(pixel) ((float)(pixel))
#define RESULT(sum) as_float((int)(sum))
#else
#define AS_NUMBER(pixel) NUMBER(pixel)
#define RESULT(sum) (sum)
#endif
#define ALWAYS_INLINE inline __attribute__((always_inline))

// Numbers beside each other that a work-item loads from an image: one of each 32.
#define LANES 32
// Weights that stand together, a segment of a filter's row or column.
#define SEGMENT 8

// Where number x of a row stands, and where the 4 from 4 * quad on do, in units of 4.
ALWAYS_INLINE int place_of(const int x) {
  return x + (x / 32) * 4;
}
ALWAYS_INLINE int place_of_quad(const int quad) {
  return quad + quad / 8;
}
// From one row to the next, in units of 4. `columns` is a multiple of 4.
ALWAYS_INLINE int pitch_of(const int columns) {
  return place_of_quad(columns / 4 - 1) + 1;
}
// Columns of the image under `outputs` columns of the output, as many as rows in local memory have.
ALWAYS_INLINE int columns_under(const int outputs, const int filter_width) {
  return (outputs + filter_width - 1 + 3) / 4 * 4;
}

ALWAYS_INLINE void take_quad(sum_t* numbers, const numbers4_t quad) {
  numbers[0] = quad.x;
  numbers[1] = quad.y;
  numbers[2] = quad.z;
  numbers[3] = quad.w;
}

// A work-group has STRIP columns of the output, and a work-item fetches FETCHED pixels of a row, LANES apart, of which so
// many belong to every row.
#define CERTAIN (STRIP / LANES)

// Which of them belong to the row in local memory, and which lie in the image: one bit each.
typedef struct {
  uint held;
  uint inside;
  bool all_inside;  // of all work-items
} Columns;
ALWAYS_INLINE Columns columns_of(const long x, const int lane, const int columns, const long width) {
  Columns own = {0, 0, x >= 0 && x + columns <= width};
#pragma unroll
  for (int i = 0; i < FETCHED; ++i) {
    const int column = lane + i * LANES;
    if (column < columns) own.held |= 1u << i;
    if (column < columns && x + column >= 0 && x + column < width) own.inside |= 1u << i;
  }
  return own;
}

// All loads of a row stand before the first number that is stored, so that they are in flight together. `row`: this
// work-item's first pixel, or its first number.
ALWAYS_INLINE void fetch_row(PIXEL* pixels, __global const PIXEL* row, const bool in_image, const Columns own,
                             const bool all_inside) {
  const uint inside = in_image ? all_inside ? own.held : own.inside : 0;
#pragma unroll
  for (int i = 0; i < FETCHED; ++i) {
    pixels[i] = 0;
    if (all_inside && i < CERTAIN ? in_image : (inside >> i & 1) != 0) pixels[i] = row[i * LANES];
  }
}
ALWAYS_INLINE void put_row(__local sum_t* row, const PIXEL* pixels, const Columns own) {
#pragma unroll
  for (int i = 0; i < FETCHED; ++i) {
    if (i < CERTAIN || (own.held >> i & 1) != 0) row[i * (LANES + 4)] = AS_NUMBER(pixels[i]);
  }
}
