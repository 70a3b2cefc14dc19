// kernel_regression by tiles: how the queries of a group meet the rows of a tile whose distances are in local memory.
// Options: PANELS and those of the products; TENSOR_CORES, if they are those of kernel_regression_products_float64.cl;
// SHARES_WEIGHTS, if all work-items compute weights.
//
//   distances of a tile        1. PARTS of WIDTH rows, each with a query, are shared out to all work-items. Each passes
//             rows                over what is too far away to weigh, and puts weights in the place of distances: of a
//        +----+----+----+        row nearer than all before it still the distance, marked. The least of the parts before
//      q |part|part|    |        tells a work-item what it would know if it had met the rows before its own.
//      q +----+----+----+     2. Each query has a work-item of its own, which adds up the rows' weights one by one, from
//                                the first to the last: so the bits do not depend on the shape of tiles.
//
// Exponentials take longest, and few queries have few work-items: so all of them compute weights, though one alone adds
// them up. Without SHARES_WEIGHTS the work-item of a query does both for one row after the other, the same numbers in the
// same order: a processor's, which has no others, and those of large tiles, which are as many as the queries.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=8 -DDP4A=0 -DTILE_Q=14 -DTILE_R=16 -DWORK_Q=14 -DWORK_R=16 -DDEPTH=1 -DPANELS=10 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DSHARES_WEIGHTS=0
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

#if SHARES_WEIGHTS
// A weight, or the distance of a row nearer than all before, in a distance's place. Neither is below 0.
#if BYTES
#define OF_WEIGHT(weight) as_uint((result)(weight))
#define WEIGHT_IN(word) ((double)as_float(word))
#define MARKED(distance) ((distance) | FAR)
#define IS_MARKED(word) (((word) & FAR) != 0)
#define DISTANCE_IN(word) ((word) & MOST_APART)
#else
#define OF_WEIGHT(weight) ((apart)(weight))
#define WEIGHT_IN(word) ((double)(word))
#define MARKED(distance) (-(distance))
#define IS_MARKED(word) signbit(word)
#define DISTANCE_IN(word) (-(word))
#endif

// Of WIDTH rows, of which the query has met those before at `least` at the least.
static inline void weigh_part(__local apart* distances, apart least, apart furthest, const Regression regression) {
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) {
    const apart distance = distances[i];
    apart word = OF_WEIGHT(0);
    if (distance < least) {
      word = MARKED(distance);
      least = distance;
      furthest = furthest_beside(least, regression);
    } else if (distance <= furthest) {
      word = OF_WEIGHT(weight_beside(distance, least, regression));
    }
    distances[i] = word;
  }
}

// All work-items of the group, which have placed the tile's distances; `count` queries of the group's exist.
static inline void weigh_tile(__local Met* met, const long count, const Regression regression, const int item) {
#pragma unroll 1
  for (int pair = item; pair < TILE_Q * PARTS && pair < count * PARTS; pair += ITEMS) {
    const int query = pair / PARTS;
    const int part = pair % PARTS;
    __local const apart* const leasts = met->leasts_of_parts + query * PART_STEP;
    apart furthest = met->furthests[query];
    if (!IS_RARE(leasts[part] <= furthest)) continue;
    const apart before = met->leasts[query];
    apart least = before;
    for (int i = 0; i < part; ++i) least = min(least, leasts[i]);
    if (least < before) furthest = furthest_beside(least, regression);
    weigh_part(met->tile.distances + query * DISTANCE_STEP + part * WIDTH, least, furthest, regression);
  }
}

// The tile's queries add up the weights of its rows, each by a work-item. `row`: the tile's first.
static inline void add_tile(__local Met* met, const long count, __global double* states, const long row,
                            __global const result* targets, const Regression regression, const int item) {
  for (int query = item; query < TILE_Q && query < count; query += ITEMS) {
    __global double* const state = states + query * state_size(regression);
    apart least = met->leasts[query];
    apart furthest = met->furthests[query];
    Sums sums = met->sums[query];
#pragma unroll 1
    for (int part = 0; part < PARTS; ++part) {
      if (!IS_RARE(met->leasts_of_parts[query * PART_STEP + part] <= furthest)) continue;
      __local const apart* const words = met->tile.distances + query * DISTANCE_STEP + part * WIDTH;
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        const apart word = words[i];
        const long place = row + part * WIDTH + i;
        double weight = 1;
        if (IS_MARKED(word)) {
          const apart distance = DISTANCE_IN(word);
          approach(&sums, state, least < FAR ? (double)least : INFINITY, (double)distance, place, regression);
          least = distance;
          furthest = furthest_beside(least, regression);
        } else {
          weight = WEIGHT_IN(word);
        }
        if (weight != 0) add_row(&sums, state, weight, targets + place * regression.outputs, regression);
      }
    }
    met->leasts[query] = least;
    met->furthests[query] = furthest;
    met->sums[query] = sums;
  }
}

#else
// One query of a tile meets WIDTH rows, of which the first is `row`. Returns the least distance after them.
static inline apart meet_part(__local const apart* distances, apart least, apart* furthest, Sums* sums,
                              __global double* state, const long row, __global const result* targets,
                              const Regression regression) {
  for (int i = 0; i < WIDTH; ++i) {
    const apart distance = distances[i];
    if (!(distance <= *furthest)) continue;
    double weight = 1;
    if (distance < least) {
      approach(sums, state, least < FAR ? (double)least : INFINITY, (double)distance, row + i, regression);
      least = distance;
      *furthest = furthest_beside(least, regression);
    } else {
      weight = weight_beside(distance, least, regression);
    }
    if (weight != 0) add_row(sums, state, weight, targets + i * regression.outputs, regression);
  }
  return least;
}

// The queries of a tile meet its rows, each by a work-item; `count` of the group's exist. `first` is the tile's first
// query of the group's.
static inline void meet_tile(__local Met* met, const int first, const long count, __global double* states,
                             const long row, __global const result* targets, const Regression regression,
                             const int item) {
  for (int query = item; query < TILE_Q && first + query < count; query += ITEMS) {
    __global double* const state = states + (first + query) * state_size(regression);
    apart least = met->leasts[first + query];
    apart furthest = met->furthests[first + query];
    for (int part = 0; part < PARTS; ++part) {
      if (IS_RARE(met->leasts_of_parts[query * PART_STEP + part] <= furthest)) {
        Sums sums = sums_in(state);
        least = meet_part(met->tile.distances + query * DISTANCE_STEP + part * WIDTH, least, &furthest, &sums, state,
                          row + part * WIDTH, targets + (row + part * WIDTH) * regression.outputs, regression);
        put_sums(state, sums);
      }
    }
    met->leasts[first + query] = least;
    met->furthests[first + query] = furthest;
  }
}
#endif
