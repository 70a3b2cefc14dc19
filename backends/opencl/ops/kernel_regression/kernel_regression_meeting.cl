// kernel_regression by tiles: how the queries of a group meet the rows of a tile whose distances are in local memory.
// Options: PANELS and those of the products; TENSOR_CORES, if they are those of kernel_regression_products_float64.cl;
// SHARES_WEIGHTS, if all work-items compute weights; OTHER_SUMS, if there are several outputs, or classes; BLOCK_ROWS.
//
//   distances of a tile        1. PARTS of WIDTH rows, each with a query, are shared out to all work-items. Each passes
//             rows                over what is too far away to weigh, and puts weights in the place of distances: of a
//        +----+----+----+        row nearer than all before it still the distance, marked. The least of the parts before
//      q |part|part|    |        tells a work-item what it would know if it had met the rows before its own.
//      q +----+----+----+     2. Each query has a work-item of its own, which adds up the rows' weights one by one, from
//                                the first to the last: so the bits do not depend on the shape of tiles.
//
// Sums of other outputs and of classes lie in the states: of OTHER_SUMS every work-item adds up some, for a whole tile at
// once. Each of them goes over the weights as a query's own work-item does, in the same order.
//
// Exponentials take longest, and few queries have few work-items: so all of them compute weights, though one alone adds
// them up. Without SHARES_WEIGHTS the work-item of a query does both for one row after the other, the same numbers in the
// same order: a processor's, which has no others, and those of large tiles, which are as many as the queries.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=8 -DDP4A=0 -DTILE_Q=14 -DTILE_R=16 -DWORK_Q=14 -DWORK_R=16 -DDEPTH=1 -DPANELS=10 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DSHARES_WEIGHTS=0
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DTILE_Q=32 -DTILE_R=32 -DWORK_Q=4 -DWORK_R=8 -DDEPTH=8 -DPANELS=1 -DSHARES_WEIGHTS=1
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DTILE_Q=64 -DTILE_R=64 -DWORK_Q=8 -DWORK_R=8 -DDEPTH=16 -DPANELS=1 -DSHARES_WEIGHTS=1 -DOTHER_SUMS=1
#include "ops/kernel_regression/kernel_regression_met.cl"

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

// Blocks of small sets are short and their queries few, so that a group waits for each target: those of a part are read
// beside each other. In blocks of large sets few rows weigh anything, and 1,000 queries of 60000 x 784 took 3.90 ms so on
// an H100 in place of 3.36 (float32; h100-2026-11-26-kernel_regression-blocks.json has the former).
#define READS_TARGETS_TOGETHER (OTHER_SUMS || BLOCK_ROWS < 2048)

#if READS_TARGETS_TOGETHER
// Of WIDTH rows, a target each: from `from` on, each row's `step` behind the one's before. Rows that weigh nothing may
// have none.
static inline void targets_of_part(result numbers[WIDTH], __local const apart* words, __global const result* from,
                                   const long step) {
#pragma unroll
  for (int i = 0; i < WIDTH; ++i) {
    const apart word = words[i];
    numbers[i] = IS_MARKED(word) || WEIGHT_IN(word) != 0 ? from[i * step] : 0;
  }
}
#endif

#if OTHER_SUMS
// Of very many classes a row changes one.
#define FEW_CLASSES 64
static inline long shared_sums(const Regression regression) {
  return regression.outputs - 1 + (regression.classes <= FEW_CLASSES ? regression.classes : 0);
}

// The other sums of the tile's queries, each by a work-item; those of a query by neighbours, which read the same weights.
// Before add_tile(), which changes what is known of the queries. `row`: the tile's first.
static inline void add_others(__local const Met* met, const long count, __global double* states, const long row,
                              __global const result* targets, const Regression regression, const int item) {
  const long sums = shared_sums(regression);
  const long most = min((long)TILE_Q, count) * sums;
#pragma unroll 1
  for (long pair = item; pair < most; pair += ITEMS) {
    const int query = (int)quotient(pair, sums);
    const long other = pair - query * sums;
    const int is_output = other < regression.outputs - 1;
    const result voted = (result)(other - (regression.outputs - 1));
    const long number = is_output ? 1 + other : 0;  // of a row's targets
    __global double* const place = states + query * state_size(regression) + STATE_OTHERS + other;
    apart least = met->leasts[query];
    apart furthest = met->furthests[query];
    double sum = 0;
    int is_read = 0;
#pragma unroll 1
    for (int part = 0; part < PARTS; ++part) {
      if (!(met->leasts_of_parts[query * PART_STEP + part] <= furthest)) continue;
      if (!is_read) sum = *place;
      is_read = 1;
      __local const apart* const words = met->tile.distances + query * DISTANCE_STEP + part * WIDTH;
      result numbers[WIDTH];
      targets_of_part(numbers, words, targets + (row + part * WIDTH) * regression.outputs + number, regression.outputs);
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        const apart word = words[i];
        double weight = 1;
        if (IS_MARKED(word)) {
          const apart distance = DISTANCE_IN(word);
          sum = scaled(sum, least < FAR ? kept_weight((double)least, (double)distance, regression) : 0);
          least = distance;
          furthest = furthest_beside(least, regression);
        } else {
          weight = WEIGHT_IN(word);
        }
        if (weight == 0) continue;
        if (is_output) {
          sum = fma(weight, (double)numbers[i], sum);
        } else if (numbers[i] == voted) {
          sum += weight;
        }
      }
    }
    if (is_read) *place = sum;
  }
}
#endif

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
#if READS_TARGETS_TOGETHER
      result numbers[WIDTH];
      targets_of_part(numbers, words, targets + (row + part * WIDTH) * regression.outputs, regression.outputs);
#endif
#pragma unroll
      for (int i = 0; i < WIDTH; ++i) {
        const apart word = words[i];
        const long place = row + part * WIDTH + i;
        double weight = 1;
        if (IS_MARKED(word)) {
          const apart distance = DISTANCE_IN(word);
          const double before = least < FAR ? (double)least : INFINITY;
#if OTHER_SUMS
          const double kept = approach_alone(&sums, state, before, (double)distance, place, regression);
          scale_sums(state, STATE_OTHERS + shared_sums(regression), kept, regression);
#elif READS_TARGETS_TOGETHER
          approach_alone(&sums, state, before, (double)distance, place, regression);
#else
          approach(&sums, state, before, (double)distance, place, regression);
#endif
          least = distance;
          furthest = furthest_beside(least, regression);
        } else {
          weight = WEIGHT_IN(word);
        }
        if (weight == 0) continue;
#if READS_TARGETS_TOGETHER
        add_alone(&sums, weight, numbers[i]);
#else
        add_row(&sums, state, weight, targets + place * regression.outputs, regression);
#endif
#if OTHER_SUMS
        if (regression.classes > FEW_CLASSES) add_class(state, weight, numbers[i], regression);
#endif
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
