// Division of numbers with a fraction, in double, which nothing makes a trap of: see quotient.cl for whole numbers.
//
// Compiles alone with: nothing
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static inline double ratio(const double number, const double divisor) {
  return number / divisor;
}
