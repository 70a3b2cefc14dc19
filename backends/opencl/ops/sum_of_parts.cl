// The sum of what stands in one place of each of one or more parts, in their order, so that it has the same bits on
// every run. Several loads are on their way at once: a GPU waits as long for one as for all of them.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/real.cl"

#define UNROLLED _Pragma("unroll")

// Defines `name` for parts of `number`s, real or vectors of it, with `at_once` loads on their way.
#define DEFINE_SUM_OF_PARTS(name, number, at_once)                                              \
  static inline number name(__global const number* place, const long count, const long step) {  \
    number sum = place[0], part[at_once];                                                       \
    long i = 1;                                                                                 \
    for (; i + at_once <= count; i += at_once) {                                                \
      UNROLLED for (int of = 0; of < at_once; ++of) part[of] = place[(i + of) * step];          \
      UNROLLED for (int of = 0; of < at_once; ++of) sum += part[of];                            \
    }                                                                                           \
    UNROLLED for (int of = 0; of < at_once; ++of) {                                             \
      if (i + of < count) part[of] = place[(i + of) * step];                                    \
    }                                                                                           \
    UNROLLED for (int of = 0; of < at_once; ++of) {                                             \
      if (i + of < count) sum += part[of];                                                      \
    }                                                                                           \
    return sum;                                                                                 \
  }
DEFINE_SUM_OF_PARTS(sum_of_parts, real, 16)
