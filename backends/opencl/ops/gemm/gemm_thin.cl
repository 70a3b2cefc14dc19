// gemm, thin: products with so few rows or columns of C that every element of the large operand is read once, where it
// lies. Options: FEW_ROWS (of C; else few columns), ALONG (sums run along the large operand's stored rows; else down over
// them), FEW (sums of each of its rows or columns, a power of two), LANES, ROWS, LOADS, NVIDIA (its shuffles).
//
//   ALONG: large operand, many x k                        else: large operand, k x many
//   +--------------------------------+                        +-------+-------+-------+
//   | 0 1 2 .. LANES | 0 1 2 ..      |  ROWS rows of each     | 0 1 ..|       |       |  a strip of LANES chunks, each
//   | 0 1 2 .. LANES | 0 1 2 ..      |  work-item             | 0 1 ..| strip |       |  work-item with some of its rows
//   +--------------------------------+                        +-------+-------+-------+
//     one step of a group ->                                    LANES
//
// A work-item loads chunks of 16 bytes, all of a step before the first is used, and multiplies each with the few elements
// of the small operand that belong to it. Those a group keeps in local memory, a step at a time. Every product has its
// place: a work-item adds along k, and what several have of a sum is added in order, on NVIDIA by pairs of lanes before.
// What does not begin at a multiple of 16 bytes is read element by element.
//
// Compiles alone with: -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=1 -DFEW_ROWS=1 -DALONG=1 -DFEW=4 -DLANES=32 -DROWS=4 -DLOADS=2 -DNVIDIA=0
// Compiles alone with: -cl-std=CL3.0 -DFLOAT64=0 -DTRANSPOSE_A=0 -DTRANSPOSE_B=1 -DFEW_ROWS=1 -DALONG=1 -DFEW=4 -DLANES=32 -DROWS=4 -DLOADS=2 -DNVIDIA=0 -DJOINED=1
// Compiles alone with: -DFLOAT64=1 -DTRANSPOSE_A=1 -DTRANSPOSE_B=0 -DFEW_ROWS=0 -DALONG=0 -DFEW=16 -DLANES=8 -DROWS=1 -DLOADS=4 -DNVIDIA=0
#include "ops/gemm/gemm_register_sum.cl"
#include "ops/gemm/gemm_thin_shape.cl"
#include "ops/joined_parts.cl"

// Of the chunk from `place` on, the elements that lie inside, and 0 for the others.
static inline chunk part_of_chunk(__global const real *place, const long inside) {
  chunk loaded = (chunk)(0);
  if (inside > 0) loaded.x = place[0];
  if (inside > 1) loaded.y = place[1];
#if CHUNK == 4
  if (inside > 2) loaded.z = place[2];
  if (inside > 3) loaded.w = place[3];
#endif
  return loaded;
}

#if NVIDIA
static inline uint word_of_lane(const uint word, const int bit) {
  uint other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(word), "r"(bit));
  return other;
}
static inline real number_of_lane(const real number, const int bit) {
#if FLOAT64
  const uint2 words = as_uint2(number);
  return as_double((uint2)(word_of_lane(words.x, bit), word_of_lane(words.y, bit)));
#else
  return as_float(word_of_lane(as_uint(number), bit));
#endif
}
#endif

static inline void store_one(__global real *c, const long few, const long many, const real sum, const Gemm gemm) {
  store_result(&c[(FEW_ROWS ? few : many) * gemm.ldc + (FEW_ROWS ? many : few)], sum, gemm.alpha, gemm.beta);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void gemm_thin(
    GEMM_OPERANDS WHERE_PARTS_MEET, const Gemm gemm, const Parts parts) {
  const int item = (int)get_local_id(0);
  const int lane = item % LANES;
  const int slot = item / LANES;
  const long many = MANY_OF(gemm);
  const int few = (int)FEW_OF(gemm);
  const long tiles = (many + TILE - 1) / TILE;
  const long group = (long)get_group_id(0);
  const long result = quotient(group, tiles);
  const long first = (group - result * tiles) * TILE;
  const long part = quotient(result, gemm.batch);
  const long product = result - part * gemm.batch;
  const long begin = part * parts.length;
  const long end = min(begin + parts.length, gemm.k);

  a += a_first + product * gemm.stride_a;
  b += b_first + product * gemm.stride_b;
  c += c_first + (JOINED ? product : result) * gemm.stride_c;
#if JOINED
  const long block = product * tiles + quotient(first, TILE);
  __global real *const block_sums = sums_of_parts + sums_first + block * parts.count * (FEW * TILE);
#endif
  const long large_step = LARGE_STEP(gemm);
  __global const real *const large = FEW_ROWS ? b : a;
  __global const real *const small = FEW_ROWS ? a : b;
  const int is_aligned = ((ulong)large & 15) == 0 && ((ALONG && many == 1) || large_step % CHUNK == 0);

  __local real small_part[FEW * DEPTH] __attribute__((aligned(128)));
  real sums[SUMS];
#pragma unroll
  for (int i = 0; i < SUMS; ++i) sums[i] = 0;

#if ALONG
  __global const real *rows[ROWS];  // one that does not exist is read as the last, and not stored
#pragma unroll
  for (int row = 0; row < ROWS; ++row) rows[row] = large + min(first + slot * ROWS + row, many - 1) * large_step;
#else
  const long column = first + lane * CHUNK;
#endif

  for (long p = begin; p < end; p += DEPTH) {
    chunk chunks[LOADS][ROWS];
#if ALONG
    const long lane_p = p + lane * CHUNK;
    if (is_aligned && p + DEPTH <= end) {
#pragma unroll
      for (int load = 0; load < LOADS; ++load) {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
          chunks[load][row] = *(__global const chunk *)(rows[row] + lane_p + load * LANES * CHUNK);
        }
      }
    } else {
#pragma unroll
      for (int load = 0; load < LOADS; ++load) {
        const long place = lane_p + load * LANES * CHUNK;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) chunks[load][row] = part_of_chunk(rows[row] + place, end - place);
      }
    }
#else
    __global const real *const from = large + (p + slot) * large_step + column;
    if (is_aligned && p + DEPTH <= end && first + TILE <= many) {
#pragma unroll
      for (int load = 0; load < LOADS; ++load) {
        chunks[load][0] = *(__global const chunk *)(from + load * SLOTS * large_step);
      }
    } else {
#pragma unroll
      for (int load = 0; load < LOADS; ++load) {
        const long inside = p + slot + load * SLOTS < end ? many - column : 0;
        chunks[load][0] = part_of_chunk(from + load * SLOTS * large_step, inside);
      }
    }
#endif

    // On its way together with the large operand.
    real of_small[SMALL_PASSES];
#pragma unroll
    for (int pass = 0; pass < SMALL_PASSES; ++pass) {
      const int one = SMALL_ONE(item + pass * ITEMS), step = SMALL_STEP(item + pass * ITEMS);
      of_small[pass] = 0;
      if (one < few && step < DEPTH && p + step < end) of_small[pass] = small[SMALL_INDEX(one, p + step)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // what was fetched before has been used
#pragma unroll
    for (int pass = 0; pass < SMALL_PASSES; ++pass) {
      const int one = SMALL_ONE(item + pass * ITEMS), step = SMALL_STEP(item + pass * ITEMS);
      if (one < FEW && step < DEPTH) small_part[ALONG ? one * DEPTH + step : step * FEW + one] = of_small[pass];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
#pragma unroll
      for (int one = 0; one < FEW; ++one) {
#if ALONG
        const chunk factors = *(__local const chunk *)(small_part + one * DEPTH + (load * LANES + lane) * CHUNK);
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
          real sum = sums[one * ROWS + row];
          sum += chunks[load][row].x * factors.x;
          sum += chunks[load][row].y * factors.y;
#if CHUNK == 4
          sum += chunks[load][row].z * factors.z;
          sum += chunks[load][row].w * factors.w;
#endif
          sums[one * ROWS + row] = sum;
        }
#else
        const real factor = small_part[(load * SLOTS + slot) * FEW + one];
        sums[one * CHUNK] += chunks[load][0].x * factor;
        sums[one * CHUNK + 1] += chunks[load][0].y * factor;
#if CHUNK == 4
        sums[one * CHUNK + 2] += chunks[load][0].z * factor;
        sums[one * CHUNK + 3] += chunks[load][0].w * factor;
#endif
#endif
      }
    }
  }

#if NVIDIA
  // With each bit a work-item keeps one half of the sums and gives the other half to its neighbour. Both add the same two
  // numbers, so that bits do not depend on who does.
  int base = 0;  // of the sums, the first that this work-item ends with
#pragma unroll
  for (int bit = FIRST_BIT, count = SUMS; bit >= LAST_BIT; bit /= 2, count = count > 1 ? count / 2 : 1) {
    const int upper = count > 1 && (item & bit) != 0;
    const int kept = count > 1 ? count / 2 : 1;
#pragma unroll
    for (int i = 0; i < kept; ++i) {
      const real low = sums[i], high = sums[i + count - kept];
      sums[i] = (upper ? high : low) + number_of_lane(upper ? low : high, bit);
    }
    if (upper) base += kept;
  }
#endif

  __local real shares[SHARES * ROUND * TILE];
#pragma unroll ROUNDS_AT_ONCE
  for (int round = 0; round < FEW; round += ROUND) {
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums of the round before have been stored
#if NVIDIA
#pragma unroll
    for (int i = 0; i < LEFT; ++i) {
      const int one = (base + i) / EACH - round;
      if (one >= 0 && one < ROUND && (item & (LAST_BIT * (ALIKE - 1))) == 0) {
        shares[SHARE_INDEX(one, (base + i) % EACH)] = sums[i];
      }
    }
#else
#pragma unroll
    for (int i = 0; i < ROUND * EACH; ++i) shares[SHARE_INDEX(i / EACH, i % EACH)] = sums[round * EACH + i];
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < ROUND * TILE; i += ITEMS) {
      const int one = FEW_ROWS ? i / TILE : i % ROUND;
      const int place = FEW_ROWS ? i % TILE : i / ROUND;
      if (round + one < few && first + place < many) {
        real sum = shares[one * TILE + place];
        for (int share = 1; share < SHARES; ++share) sum += shares[(share * ROUND + one) * TILE + place];
#if JOINED
        block_sums[(part * FEW + round + one) * TILE + place] = sum;
#else
        store_one(c, round + one, first + place, sum, gemm);
#endif
      }
    }
  }
#if JOINED
  __local int is_last;
  if (!comes_last(&counters[counters_first + block], parts.count, &is_last)) return;
  for (int i = item; i < few * TILE; i += ITEMS) {
    const int one = i / TILE, place = i - one * TILE;
    if (first + place < many) {
      store_one(c, one, first + place, sum_of_parts(block_sums + i, parts.count, FEW * TILE), gemm);
    }
  }
#endif
}
