// kernel_regression by tiles: what the kernels that pack rows are told by the host.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0
#include "ops/kernel_regression/kernel_regression_number.cl"

// The host's RegressionPacking. A round's rows begin at round * padded_rows.
typedef struct {
  long rows, padded_rows;
  long columns, depth;
  long width;
  long is_centred;  // 0: lengths are those of rows as given
} Packing;
SIZE_ON_THE_HOST(Packing, 48);
