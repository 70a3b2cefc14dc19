// kernel_regression by tiles: where packed rows lie, as the host tells it to the kernels that multiply them.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0
#include "ops/kernel_regression/kernel_regression_rows.cl"

// The host's RegressionTiling. Prepared rows and packed queries: squared lengths first, panels from `..._panels` on.
typedef struct {
  long depth;
  long row_panels;
  long query_panels;
  long query_groups;    // of a round
  long groups_at_once;  // of these, which go through all blocks before others do
} Tiling;
SIZE_ON_THE_HOST(Tiling, 40);

// Which block of training rows and which queries a work-group has. Those of one block follow each other, of as many
// queries as caches hold.
typedef struct {
  long block;
  long query_group;
} Place;

static inline Place place_of_group(const long group, const Regression regression, const Tiling tiling) {
  const long of_all_blocks = regression.chunks * tiling.groups_at_once;
  const long first = quotient(group, of_all_blocks) * tiling.groups_at_once;
  const long groups = min(tiling.query_groups - first, tiling.groups_at_once);
  const long rest = group - first * regression.chunks;
  Place place;
  place.block = quotient(rest, groups);
  place.query_group = first + rest - place.block * groups;
  return place;
}
