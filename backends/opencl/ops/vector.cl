// A vector register of numbers of a program's type, WIDTH of them, and how it is loaded and stored.
//
// Compiles alone with: -DFLOAT64=0 -DWIDTH=16
// Compiles alone with: -DFLOAT64=1 -DWIDTH=4
#include "ops/real.cl"

#define JOIN_NAMES(a, b) a##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#if FLOAT64
typedef JOIN(double, WIDTH) vector;
#else
typedef JOIN(float, WIDTH) vector;
#endif
#define LOAD_VECTOR JOIN(vload, WIDTH)
#define STORE_VECTOR JOIN(vstore, WIDTH)
