// kernel_regression, exact_bytes_tensor and exact_bytes_wgmma: a lane's two queries meet the rows of a tile, side by side.
//
//   words, in the sums' places: a key and its number among the lane's rows of the query, which order as keys do
//   -> the least of the quad: is it nearer than all before?
//   -> near words go to the lane's places in local memory, those of the upper query from the first place on, of the lower
//      one from the last
//   -> weights, four of each query at a time -> the lane's own sums
//
// Mostly a lane's places hold what is near of a tile; where they do not, words are listed again, so few at a time that
// they do. Parts of queries, keys and weights: kernel_regression_tensor_part.cl.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=8 -DEUCLIDEAN=0 -DTILE_R=128
// Compiles alone with: -target nvptx64 -fgnu-keywords -DBYTES=1 -DFLOAT64=0 -DSTAGES=8 -DEUCLIDEAN=0 -DTILE_R=128 -DPRIVATE_LISTS=1
#include "ops/kernel_regression/kernel_regression_tensor_part.cl"

// Of a query, a lane's keys; a word has so many bits for a key's number.
#define KEYS LANE_ROWS
#define KEY_BITS 5
#if KEYS != 1 << KEY_BITS
#error "a tile has 128 rows"
#endif
// Places of a lane's two lists, of which neighbouring lanes' lie side by side.
#define PLACES 16
#define WEIGHED_AT_ONCE 4
// Of a lane's words of lengths, between those of two lanes of a quad: so the four lanes load from different banks.
#define WORDS_APART 4
// Lists lie in local memory, or with PRIVATE_LISTS in the work-item's own, which the first-level cache holds, where local
// memory is scarce. From a lane's place to its next one, and from its first to its last.
#if PRIVATE_LISTS
typedef int* List;
#define FIRST_PLACE(list) 0
#define PLACE_STEP 1
#else
typedef int List;  // the address of the first place
#define FIRST_PLACE(list) (list)
#define PLACE_STEP 128
#endif
#define LAST_PLACE(list) (FIRST_PLACE(list) + (PLACES - 1) * PLACE_STEP)
#define PART_KEYS (PLACES / 2)

// What else is known of a tile's rows, where it is put for a lane of a quad.
typedef struct {
  int words[4][KEYS + WORDS_APART] __attribute__((aligned(16)));
  float targets[4][KEYS];
} Known;

ALWAYS_INLINE int word_of_length(const uint length, const int number) {
  return length < MOST_KEY ? (int)length * KEYS + number : INT_MAX;
}
ALWAYS_INLINE void place_known(__local Known* known, const uint length, const float target, const int in_tile) {
  const int number = in_tile / 8 * 2 + in_tile % 2;
  known->words[in_tile % 8 / 2][number] = word_of_length(length, number);
  known->targets[in_tile % 8 / 2][number] = target;
}

ALWAYS_INLINE void put_word(const List list, const int at, const int word) {
#if PRIVATE_LISTS
  list[at] = word;
#else
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
#endif
}
ALWAYS_INLINE int word_at(const List list, const int at) {
#if PRIVATE_LISTS
  return list[at];
#else
  int word;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
#endif
}

// Where the two lists of a lane end.
typedef struct {
  int upper, lower;
} Ends;

ALWAYS_INLINE int is_overfull(const Ends ends, const List list) {
  return ends.upper - ends.lower > PLACE_STEP || ends.upper == LAST_PLACE(list) || ends.lower == FIRST_PLACE(list);
}

ALWAYS_INLINE Ends list_words(const int words[KEYS * 2], const int first, const int count, const int upper_furthest,
                              const int lower_furthest, const List list) {
  Ends ends = {FIRST_PLACE(list), LAST_PLACE(list)};
#pragma unroll
  for (int i = 0; i < KEYS; ++i) {
    if (i < first || i >= first + count) continue;
    const int upper = words[i / 2 * 4 + i % 2], lower = words[i / 2 * 4 + 2 + i % 2];
    if (upper <= upper_furthest) {
      put_word(list, ends.upper, upper);
      ends.upper = min(ends.upper + PLACE_STEP, LAST_PLACE(list));
    }
    if (lower <= lower_furthest) {
      put_word(list, ends.lower, lower);
      ends.lower = max(ends.lower - PLACE_STEP, FIRST_PLACE(list));
    }
  }
  return ends;
}

ALWAYS_INLINE void add_weighed(Part* part, const float weight, const float target) {
  const double wide = (double)weight;
  part->sum += wide;
  part->squares = fma(wide, wide, part->squares);
  part->output = fma(wide, (double)(weight == 0 ? 0 : target), part->output);  // whatever the target is
}

// Adds the rows that both lists hold. `targets` are those of the lane's rows.
ALWAYS_INLINE void add_both(const Meeting* meeting, Part* upper, Part* lower, const Ends ends, const List list,
                            __local const float* targets) {
  const int uppers = (ends.upper - FIRST_PLACE(list)) / PLACE_STEP;
  const int lowers = (LAST_PLACE(list) - ends.lower) / PLACE_STEP;
  const int most = max(uppers, lowers);
#pragma unroll 1
  for (int first = 0; is_any(first < most); first += WEIGHED_AT_ONCE) {
    float upper_weights[WEIGHED_AT_ONCE], lower_weights[WEIGHED_AT_ONCE];
    float upper_targets[WEIGHED_AT_ONCE], lower_targets[WEIGHED_AT_ONCE];
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
      const int of_upper = word_at(list, FIRST_PLACE(list) + (first + i) * PLACE_STEP);
      const int of_lower = word_at(list, LAST_PLACE(list) - (first + i) * PLACE_STEP);
      const float upper_weight = weight_of_key(meeting, of_upper >> KEY_BITS, upper);
      const float lower_weight = weight_of_key(meeting, of_lower >> KEY_BITS, lower);
      upper_weights[i] = first + i < uppers ? upper_weight : 0;
      lower_weights[i] = first + i < lowers ? lower_weight : 0;
      upper_targets[i] = targets[of_upper & (KEYS - 1)];
      lower_targets[i] = targets[of_lower & (KEYS - 1)];
    }
#pragma unroll
    for (int i = 0; i < WEIGHED_AT_ONCE; ++i) {
      add_weighed(upper, upper_weights[i], upper_targets[i]);
      add_weighed(lower, lower_weights[i], lower_targets[i]);
    }
  }
}

ALWAYS_INLINE int furthest_word(const Meeting* meeting, const int least, const int length) {
  const int key = min(beyond(meeting, least, length, meeting->whole_reach, 1), MOST_KEY - 2);
  return key * KEYS + KEYS - 1;
}

// Takes over the least word of the lane and of its quad. Returns whether a row is nearer than all before.
ALWAYS_INLINE int approach_word(const Meeting* meeting, Part* part, const int own, const int quad, const int tile) {
  const int least = quad >> KEY_BITS;
  if (least >= part->least) return 0;
  part->least = least;
  part->furthest = furthest_word(meeting, least, part->length);
  part->nearest = own >> KEY_BITS == least ? tile * KEYS + (own & (KEYS - 1)) : -1;
  if (part->reference == NO_REFERENCE) part->reference = least;
  return 1;
}
// Another reference, if a nearer row weighs too much beside it.
ALWAYS_INLINE void settle(const Meeting* meeting, Part* part) {
  if (part->reference > beyond(meeting, part->least, part->length, meeting->whole_margin, 0.7)) {
    refer_to_least(meeting, part);
  }
}

// Words are in an int's range, what is taken off need not be.
ALWAYS_INLINE int word_of_sum(const int of_length, const int sum) {
  return (int)((uint)of_length - 2u * KEYS * (uint)sum);
}
// Words of sums; those of the lane's lengths lie together in local memory.
ALWAYS_INLINE void make_words(int words[KEYS * 2], const int sums[KEYS * 2], __local const int* of_lengths) {
#pragma unroll
  for (int i = 0; i < KEYS * 2; i += 8) {
    const int4 four = vload4(0, of_lengths + i / 2);
    words[i] = word_of_sum(four.x, sums[i]);
    words[i + 1] = word_of_sum(four.y, sums[i + 1]);
    words[i + 2] = word_of_sum(four.x, sums[i + 2]);
    words[i + 3] = word_of_sum(four.y, sums[i + 3]);
    words[i + 4] = word_of_sum(four.z, sums[i + 4]);
    words[i + 5] = word_of_sum(four.w, sums[i + 5]);
    words[i + 6] = word_of_sum(four.z, sums[i + 6]);
    words[i + 7] = word_of_sum(four.w, sums[i + 7]);
  }
}

// What is near of the words: nothing, what the lists hold that end at `ends`, or more than they can.
#define NOTHING_NEAR 0
#define NEAR_LISTED 1
#define NEAR_OVERFULL 2

// The lane's queries approach the block's tile `tile`, and what is near is listed. `list`: the lane's first place.
ALWAYS_INLINE int list_near(const Meeting* meeting, Part* upper, Part* lower, const int words[KEYS * 2], const List list,
                            const int tile, Ends* ends) {
  int least[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
#pragma unroll
  for (int i = 0; i < KEYS * 2; ++i) least[i % 4] = min(least[i % 4], words[i]);
  const int of_upper = min(least[0], least[1]), of_lower = min(least[2], least[3]);
  const int upper_quad = least_of_quad(of_upper), lower_quad = least_of_quad(of_lower);
  const int is_upper_nearer = approach_word(meeting, upper, of_upper, upper_quad, tile);
  const int is_lower_nearer = approach_word(meeting, lower, of_lower, lower_quad, tile);
  if (!is_any(upper_quad <= upper->furthest || lower_quad <= lower->furthest)) return NOTHING_NEAR;
  *ends = list_words(words, 0, KEYS, upper->furthest, lower->furthest, list);
  if (is_upper_nearer) settle(meeting, upper);
  if (is_lower_nearer) settle(meeting, lower);
  return is_any(is_overfull(*ends, list)) ? NEAR_OVERFULL : NEAR_LISTED;
}

// What is near is added.
ALWAYS_INLINE void add_near_words(const Meeting* meeting, Part* upper, Part* lower, const int words[KEYS * 2], const List list,
                                  __local const float* targets, const Ends ends, const int near) {
  if (near == NOTHING_NEAR) return;
  if (near == NEAR_LISTED) {
    add_both(meeting, upper, lower, ends, list, targets);
    return;
  }
  // The compiler would keep what it has compared before, in registers that there are not.
  int upper_furthest = upper->furthest, lower_furthest = lower->furthest;
  asm volatile("" : "+r"(upper_furthest), "+r"(lower_furthest));
#pragma unroll
  for (int first = 0; first < KEYS; first += PART_KEYS) {
    add_both(meeting, upper, lower, list_words(words, first, PART_KEYS, upper_furthest, lower_furthest, list), list,
             targets);
  }
}
