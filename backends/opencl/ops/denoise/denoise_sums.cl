// denoise: adding to the sums, which any work-item may do at any time: they are whole numbers.
//
//   LONG_ATOMICS   1: additions of 64 bits (cl_khr_int64_base_atomics).
//                  0: | low half | high half |, each added to by itself. An addition to the low half tells what stood
//                     there, and so whether it passed 2^32; that one more goes to the high half. However additions
//                     mingle, as many carries are handed on as there were.
//
// Compiles alone with: -DLONG_ATOMICS=0
// Compiles alone with: -DLONG_ATOMICS=1
#if LONG_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

static inline void add_to_sum(__global ulong* sum, const long number) {
  (void)atom_add((volatile __global ulong*)sum, (ulong)number);
}

#else

static inline void add_to_sum(__global ulong* sum, const long number) {
  volatile __global uint* const halves = (volatile __global uint*)sum;
  const uint low = (uint)(ulong)number;
  const uint before = atomic_add(halves, low);
  const uint high = (uint)((ulong)number >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0) (void)atomic_add(halves + 1, high);
}

#endif
