// kernel_regression by tiles: where packed rows lie, as the host tells it to the kernels that multiply them.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0
#include "ops/kernel_regression/kernel_regression_rows.cl"

// The host's RegressionTiling. Prepared rows and packed queries: squared lengths first, panels from `..._panels` on.
typedef struct {
  long depth;
  long row_panels;
  long query_panels;
  long query_groups;  // of a round
} Tiling;
SIZE_ON_THE_HOST(Tiling, 32);
