// patch_match: vectors of neighbouring candidates' voxels and sums, for processors.
//
//   TYPE NARROW   elements     sums          LANES of both: neighbours along x.
//   0     1       ucharN       uintN
//   0     0       ucharN       longN
//   1     0       ushortN      longN
//   2     0       floatN       floatN
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DLANES=16
// Compiles alone with: -DTYPE=0 -DNARROW=0 -DLANES=4
// Compiles alone with: -DTYPE=1 -DNARROW=0 -DLANES=8
// Compiles alone with: -DTYPE=2 -DNARROW=0 -DLANES=4
#include "ops/patch_match/patch_match_key.cl"

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
#define LOAD JOINED(vload, LANES)
#define STORE JOINED(vstore, LANES)
#if TYPE == 2
typedef JOINED(float, LANES) elements;
typedef JOINED(float, LANES) sums;
#elif TYPE == 1
typedef JOINED(ushort, LANES) elements;
typedef JOINED(long, LANES) sums;
#define WIDENED JOINED(convert_long, LANES)
#else
typedef JOINED(uchar, LANES) elements;
#if NARROW
typedef JOINED(uint, LANES) sums;
#define WIDENED JOINED(convert_uint, LANES)
#else
typedef JOINED(long, LANES) sums;
#define WIDENED JOINED(convert_long, LANES)
#endif
#endif

// Of the differences of two vectors.
static inline sums squares_of(const elements a, const elements b) {
#if TYPE == 2
  const sums difference = a - b;
  return difference * difference;
#else
  // Modulo 2^32: the square of 16 bits fits into 32 that have no sign, whatever the difference's.
  const JOINED(uint, LANES) difference = JOINED(convert_uint, LANES)(a) - JOINED(convert_uint, LANES)(b);
  return WIDENED(difference * difference);
#endif
}

// Is any lane of a comparison true? By halves: any() takes one lane after the other on PoCL.
#if TYPE == 2 || NARROW
#define MASK(lanes) JOINED(int, lanes)
#else
#define MASK(lanes) JOINED(long, lanes)
#endif
static inline int is_any(const MASK(LANES) lanes) {
#if LANES == 16
  const MASK(8) eight = lanes.lo | lanes.hi;
#elif LANES == 8
  const MASK(8) eight = lanes;
#endif
#if LANES > 4
  const MASK(4) four = eight.lo | eight.hi;
#else
  const MASK(4) four = lanes;
#endif
  const MASK(2) two = four.lo | four.hi;
  return (two.x | two.y) != 0;
}
