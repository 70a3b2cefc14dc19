// kernel_regression by tiles: what rows are made of once they are packed, their products, and distances from products.
// Options: NUMBERS, of bytes in a word; WIDTH, of a vector; DP4A, 1 where NVIDIA's instruction is there.
//
//   type      number            a product                       a distance
//   float32   number - centre   a multiply-add                  |q|^2 + |t|^2 - 2 q t, not below 0
//   float64   the same
//   uint8     4 or 2 bytes in   4 or 2 products and their sum,  the same, in 32 bits, in which the sum of two lengths
//             a word            exact                           may pass the largest number but the distance does not
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=2 -DDP4A=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=2 -DWIDTH=16 -DDP4A=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=1
#include "ops/kernel_regression/kernel_regression_rows.cl"

// `apart` is a squared distance as tiles keep it. FAR is that of a row that has no part, or is not there; bytes of as
// many columns as are taken are never as far.
#if BYTES
typedef uint number;
typedef uint apart;
#define FAR 0x80000000u
#define MOST_APART 0x7fffffffu
#elif FLOAT64
typedef double number;
typedef double apart;
#define FAR ((double)INFINITY)
#define MOST_APART DBL_MAX
#else
typedef float number;
typedef float apart;
#define FAR INFINITY
#define MOST_APART FLT_MAX
#endif

#define JOIN_NAMES(a, b) a##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#if BYTES
typedef JOIN(uint, WIDTH) vector;
#elif FLOAT64
typedef JOIN(double, WIDTH) vector;
#else
typedef JOIN(float, WIDTH) vector;
#endif
#define LOAD_VECTOR JOIN(vload, WIDTH)
#define STORE_VECTOR JOIN(vstore, WIDTH)

#if BYTES && DP4A
static inline uint add_dot(const uint a, const uint b, uint sum) {
  asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
#endif

// x86's instruction for the products of two words a lane, added: clang finds it for one of them, but not for both. Not by
// asm: PoCL 4 to 6 take that for an allocation of their own, and end the program.
#if BYTES && NUMBERS == 2 && WIDTH == 16 && defined(__AVX512BW__)
#define HAS_WORD_PRODUCTS 1
#define WORD_PRODUCTS __builtin_ia32_pmaddwd512
#elif BYTES && NUMBERS == 2 && WIDTH == 8 && defined(__AVX2__)
#define HAS_WORD_PRODUCTS 1
#define WORD_PRODUCTS __builtin_ia32_pmaddwd256
#endif
#if HAS_WORD_PRODUCTS
typedef short words __attribute__((vector_size(WIDTH * 4)));
#endif

// sum + a * b, of every lane.
static inline vector multiply_add(const vector a, const vector b, const vector sum) {
#if !BYTES
  return sum + a * b;
#elif DP4A
  return (vector)(add_dot(a.x, b.x, sum.x), add_dot(a.y, b.y, sum.y), add_dot(a.z, b.z, sum.z),
                  add_dot(a.w, b.w, sum.w));
#elif NUMBERS == 4
  return sum + (a & 255u) * (b & 255u) + (a >> 8 & 255u) * (b >> 8 & 255u) + (a >> 16 & 255u) * (b >> 16 & 255u) +
         (a >> 24) * (b >> 24);
#elif HAS_WORD_PRODUCTS
  return sum + __builtin_astype(WORD_PRODUCTS(__builtin_astype(a, words), __builtin_astype(b, words)), vector);
#else
  return sum + (a & 65535u) * (b & 65535u) + (a >> 16) * (b >> 16);
#endif
}

// Squared distances of a query and WIDTH training rows from their squared lengths and products.
static inline vector apart_of(const number query_length, const vector lengths, const vector dots) {
  const vector sum = (vector)(query_length) + lengths;
#if BYTES
  return sum - 2u * dots;
#else
  return fmax((vector)(0), fma((vector)(-2), dots, sum));
#endif
}

// The least of a vector's lanes.
static inline apart least_of(const vector all) {
#if WIDTH == 16
#define LEAST_OF_8 min(all.lo, all.hi)
#else
#define LEAST_OF_8 all
#endif
#if WIDTH >= 8
#define LEAST_OF_4 min(LEAST_OF_8.lo, LEAST_OF_8.hi)
#else
#define LEAST_OF_4 all
#endif
#if WIDTH >= 4
#define LEAST_OF_2 min(LEAST_OF_4.lo, LEAST_OF_4.hi)
#else
#define LEAST_OF_2 all
#endif
  return min(LEAST_OF_2.lo, LEAST_OF_2.hi);
}
