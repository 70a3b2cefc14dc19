// kernel_regression by tiles: what a group's work-items tell each other of the queries that they meet rows with.
// Options: those of kernel_regression_meeting.cl.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DTILE_Q=32 -DTILE_R=32 -DWORK_Q=4 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DSHARES_WEIGHTS=1
#include "ops/kernel_regression/kernel_regression_number.cl"
#if TENSOR_CORES
#include "ops/kernel_regression/kernel_regression_products_float64.cl"
#else
#include "ops/kernel_regression/kernel_regression_products.cl"
#endif
#include "ops/kernel_regression/kernel_regression_state.cl"

#define QUERIES (PANELS * TILE_Q)
#define PARTS (TILE_R / WIDTH)
// One more, so that neighbouring queries lie in different banks.
#define PART_STEP (PARTS + 1)
#define DISTANCE_STEP (SHARES_WEIGHTS ? TILE_R + WIDTH : TILE_R)

// Few rows are near. A compiler that takes the loops over them for the hottest ones keeps their constants in the registers
// that products need.
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect)
#define IS_RARE(condition) __builtin_expect(condition, 0)
#endif
#endif
#ifndef IS_RARE
#define IS_RARE(condition) (condition)
#endif

// What a group's work-items tell each other.
typedef struct {
  // While a tile is multiplied, its steps lie where its distances come: so more groups share a multiprocessor.
  union {
    apart distances[TILE_Q * DISTANCE_STEP];
    vector aligned;
#if ITEMS > 1
    number staged[STAGED_NUMBERS];
#endif
  } tile;
  apart leasts_of_parts[TILE_Q * PART_STEP];
  apart leasts[QUERIES];     // of the rows that each query has met
  apart furthests[QUERIES];  // what is further away weighs nothing
#if SHARES_WEIGHTS
  Sums sums[QUERIES];
#endif
} Met;

// What is further away than it weighs nothing beside a row at `least`.
static inline apart furthest_beside(const apart least, const Regression regression) {
  if (!(least < FAR)) return MOST_APART;
  return (apart)fmin(furthest_from((double)least, regression), (double)MOST_APART);
}

static inline double weight_beside(const apart distance, const apart least, const Regression regression) {
  return (double)weight_of((squared)distance, (squared)least, regression.factor, regression.is_euclidean);
}

// A query before it has met a row.
static inline void begin_query(__local Met* met, const int query, __global double* state) {
  const Sums none = {0, 0, 0};
  met->leasts[query] = FAR;
  met->furthests[query] = MOST_APART;
  begin_state(state);
#if SHARES_WEIGHTS
  met->sums[query] = none;
#else
  put_sums(state, none);
#endif
}
