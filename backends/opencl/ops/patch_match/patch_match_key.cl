// patch_match: keys, each a distance and in the bits below it the candidate's number in its window.
//
//   key         [ distance | number ]     One comparison orders by distance, then by number, which rises with the index.
//               63                  0     All ones: a place that is left, further than any candidate. With SHORT_KEYS a
//                                         key has 32 bits.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DSHORT_KEYS=1
// Compiles alone with: -DTYPE=0 -DNARROW=0
// Compiles alone with: -DTYPE=1 -DNARROW=0
// Compiles alone with: -DTYPE=2 -DNARROW=0
#include "ops/patch_match/patch_match_volume.cl"

#if defined(SHORT_KEYS) && SHORT_KEYS
typedef uint patch_key;
#define NO_KEY UINT_MAX
#else
typedef ulong patch_key;
#define NO_KEY ULONG_MAX
#endif

// What is nearer than this is kept while places are left.
static inline squared first_unkept(const Match* match) {
#if TYPE == 2
  return match->largest_float < 0 ? 0 : nextafter(match->largest_float, INFINITY);
#elif NARROW
  return (uint)min(match->largest + 1, (long)UINT_MAX);
#else
  return match->largest + 1;
#endif
}

static inline patch_key key_of(const squared distance, const patch_key number, const int number_bits) {
#if TYPE == 2
  return (patch_key)as_uint(distance) << number_bits | number;
#else
  return (patch_key)distance << number_bits | number;
#endif
}

static inline squared distance_in(const patch_key key, const int number_bits) {
#if TYPE == 2
  return as_float((uint)(key >> number_bits));
#else
  return (squared)(key >> number_bits);
#endif
}
