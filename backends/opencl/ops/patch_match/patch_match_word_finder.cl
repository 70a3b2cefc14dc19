// patch_match, packed_key_lanes, of bytes: |a - b|^2 = |a|^2 + |b|^2 - 2 a b, four products of bytes at once.
//
//   words of a row            w0 | w1 | w2 | w3 | w4     Five words hold the bytes that 12 candidates next to each
//   candidate 0               [..]                       other have below one word of the reference: each is put
//   candidate 1                [..]                      together of two words by a shift, and multiplied. A patch of 4
//   reference's word          [rr]                       x 4 x 4 has 16 words, which stay in registers; words of others
//                                                        are read again.
//
// PATCH: 4 where the patch has 4 voxels along each axis, else 0. DP4A: by NVIDIA's instructions.
//
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DPATCH=4 -DDP4A=0
// Compiles alone with: -DTYPE=0 -DNARROW=1 -DPATCH=0 -DDP4A=0
#include "ops/patch_match/patch_match_words.cl"

#define LANES 12
#define LANE_WORDS (LANES / 4 + 1)

// A reference, and where its candidates' words and norms are.
typedef struct {
  __global const uint* words;
  __global const uint* norms;
  __global const uint* reference;  // its row of words
  long reference_x;
  uint norm;
  uint kept[PATCH > 0 ? PATCH * PATCH : 1];
} Finder;

// The 32 bits from so many bits on of two words.
static inline uint shifted(const uint low, const uint high, const uint bits) {
#if DP4A
  uint result;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(bits));
  return result;
#else
  return (uint)(((ulong)high << 32 | low) >> bits);
#endif
}

// sum + a0 b0 + a1 b1 + a2 b2 + a3 b3.
static inline uint add_bytes(const uint a, const uint b, uint sum) {
#if DP4A
  asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  return sum + (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
         (a >> 24) * (b >> 24);
#endif
}

// The four bytes from x on.
static inline uint word_at(__global const uint* row, const long x) {
  return shifted(row[x / 4], row[x / 4 + 1], (uint)(x % 4 * 8));
}

static inline void find_reference(Finder* finder, const Match* match, const Words* shape, const long reference) {
  const long row = quotient(reference, match->size[0]);
  finder->reference = finder->words + row * shape->row_words;
  finder->reference_x = reference - row * match->size[0];
  const long plane = quotient(row, match->size[1]);
  const long place_row = plane * match->places[1] + row - plane * match->size[1];
  finder->norm = finder->norms[place_row * match->places[0] + finder->reference_x];
#if PATCH
#pragma unroll
  for (int i = 0; i < PATCH * PATCH; ++i) {
    const long in_patch = i / PATCH * match->size[1] + i % PATCH;
    finder->kept[i] = word_at(finder->reference + in_patch * shape->row_words, finder->reference_x);
  }
#endif
}

// The products of a word of the reference with those of all candidates.
static inline void add_word(const uint word, __global const uint* from, const uint bits, uint* dots) {
  uint read[LANE_WORDS + 1];
  uint words[LANE_WORDS];
#pragma unroll
  for (int i = 0; i <= LANE_WORDS; ++i) read[i] = from[i];
#pragma unroll
  for (int i = 0; i < LANE_WORDS; ++i) words[i] = shifted(read[i], read[i + 1], bits);
#pragma unroll
  for (int i = 0; i < LANES; ++i) {
    const uint there = i % 4 == 0 ? words[i / 4] : shifted(words[i / 4], words[i / 4 + 1], i % 4 * 8);
    dots[i] = add_bytes(word, there, dots[i]);
  }
}

// The distances of the candidates from (x, y, z) on.
static inline void find(const Finder* finder, const Match* match, const Words* shape, const long x, const long y,
                        const long z, const int count, const squared limit, squared* found) {
  __global const uint* candidates = finder->words + (z * match->size[1] + y) * shape->row_words + x / 4;
  const uint bits = (uint)(x % 4 * 8);
  const long plane_words = match->size[1] * shape->row_words;
  uint dots[LANES];
#pragma unroll
  for (int i = 0; i < LANES; ++i) dots[i] = 0;
#if PATCH
#pragma unroll
  for (int i = 0; i < PATCH * PATCH; ++i) {
    add_word(finder->kept[i], candidates + i / PATCH * plane_words + i % PATCH * shape->row_words, bits, dots);
  }
#else
#pragma unroll 1
  for (long row = 0; row < match->patch[1] * match->patch[2]; ++row) {
    const long plane = quotient(row, match->patch[1]);
    const long first = plane * plane_words + (row - plane * match->patch[1]) * shape->row_words;
#pragma unroll 1
    for (long i = 0; i < match->patch[0]; i += 4) {
      uint word = word_at(finder->reference + first, finder->reference_x + i);
      // Zeros meet what lies behind the patches.
      if (match->patch[0] - i < 4) word &= (1U << (match->patch[0] - i) * 8) - 1;
      add_word(word, candidates + first + i / 4, bits, dots);
    }
  }
#endif
  __global const uint* const norms = finder->norms + (z * match->places[1] + y) * match->places[0] + x;
#pragma unroll
  for (int i = 0; i < LANES; ++i) found[i] = finder->norm + norms[i] - 2 * dots[i];
}
