// The type that a program computes in. Option: FLOAT64, 0 or 1.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#if FLOAT64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
