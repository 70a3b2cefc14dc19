// The sum of what stands in one place of each of one or more parts, in their order, so that it has the same bits on
// every run. Several loads are on their way at once: a GPU waits as long for one as for all of them.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/real.cl"

#define PARTS_AT_ONCE 16

static inline real sum_of_parts(__global const real* place, const long count, const long step) {
  real sum = place[0], part[PARTS_AT_ONCE];
  long i = 1;
  for (; i + PARTS_AT_ONCE <= count; i += PARTS_AT_ONCE) {
#pragma unroll
    for (int of = 0; of < PARTS_AT_ONCE; ++of) part[of] = place[(i + of) * step];
#pragma unroll
    for (int of = 0; of < PARTS_AT_ONCE; ++of) sum += part[of];
  }
#pragma unroll
  for (int of = 0; of < PARTS_AT_ONCE; ++of) {
    if (i + of < count) part[of] = place[(i + of) * step];
  }
#pragma unroll
  for (int of = 0; of < PARTS_AT_ONCE; ++of) {
    if (i + of < count) sum += part[of];
  }
  return sum;
}
