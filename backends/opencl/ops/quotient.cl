// Division of whole numbers by what is known at run time only.
//
//   lanes     0    1    2    3          A compiler for processors makes lanes of a vector out of work-items, and of calls
//   number    7    8    9    ?          with arguments functions on whole vectors. A lane that is idle takes part, with
//   divisor   3    3    3    ? = 0      whatever its registers hold; divided by 0 it ends the program, on Intel's runtime
//                                       for one (SIGFPE). So no divisor is 0, and unsigned numbers overflow in no quotient.
//
// Neither number is negative. Plain `/` is for divisors that are known when a kernel is compiled.
//
// Compiles alone with: nothing
static inline long quotient(const long number, const long divisor) {
  return (long)((ulong)number / max((ulong)divisor, (ulong)1));
}

// The same in 32 bits, several times as fast on GPUs.
static inline int small_quotient(const int number, const int divisor) {
  return (int)((uint)number / max((uint)divisor, 1u));
}
