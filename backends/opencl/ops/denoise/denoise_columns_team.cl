// denoise, columns: a team of work-items, which filters a stack, its local memory, and what its work-items tell each other.
// See denoise_columns.cl.
//
//   PLACES   16 or 32: most members of a stack. A team has 4 * PLACES work-items, one for each plane of a patch
//   NVIDIA   1: teams wait for their own work-items, and neighbours tell each other numbers, by NVIDIA's instructions
//
// Compiles alone with: -DTYPE=0 -DPLACES=16 -DWIENER=0 -DUNROLL=1 -DNVIDIA=0 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DPLACES=32 -DWIENER=1 -DUNROLL=0 -DNVIDIA=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DPLACES=32 -DWIENER=1 -DUNROLL=1 -DNVIDIA=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_columns_filter.cl"

#define TEAM (4 * PLACES)
#define PARTS (PLACES / MEMBERS)  // of a stack: neighbours have the parts of one place in a plane
// From a patch to the next one's: neither planes of neighbouring patches meet in a bank, taken by two numbers at a time, nor
// neighbouring parts. Two numbers are left over.
#define PITCH 66

typedef struct {
  float2 rows[PLACES * PITCH / 2];  // patches; behind each where it lies, and where its sums stand
  uint energy;                      // that the stack keeps
#if !NVIDIA
  float4 told[TEAM];
#endif
} Team;

static inline __local int* place_of_patch(__local Team* team, const int m) {
  return (__local int*)team->rows + m * PITCH + VOXELS;
}
static inline __local uint* sum_of_patch(__local Team* team, const int m) {
  return (__local uint*)team->rows + m * PITCH + VOXELS + 1;
}

#if NVIDIA

static inline void wait_for_team() {
  asm volatile("bar.sync %0, %1;" ::"r"((uint)get_local_id(0) / TEAM + 1), "n"(TEAM) : "memory");
}
static inline float number_of_lane(const float number, const int apart) {
  uint told;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(told) : "r"(as_uint(number)), "r"(apart));
  return as_float(told);
}
static inline float4 told_by(const int lane, const int apart, const float4 numbers, __local Team* team) {
  return (float4)(number_of_lane(numbers.s0, apart), number_of_lane(numbers.s1, apart),
                  number_of_lane(numbers.s2, apart), number_of_lane(numbers.s3, apart));
}
static inline void add_energy(const int lane, uint energy, __local Team* team) {
  UNROLLED for (int apart = 16; apart > 0; apart /= 2) energy += as_uint(number_of_lane(as_float(energy), apart));
  if (lane % 32 == 0) (void)atomic_add((volatile __local uint*)&team->energy, energy);
}

#else

static inline void wait_for_team() {
  barrier(CLK_LOCAL_MEM_FENCE);
}
// The numbers of the work-item whose lane differs in this bit.
static inline float4 told_by(const int lane, const int apart, const float4 numbers, __local Team* team) {
  team->told[lane] = numbers;
  barrier(CLK_LOCAL_MEM_FENCE);
  const float4 told = team->told[lane ^ apart];
  barrier(CLK_LOCAL_MEM_FENCE);
  return told;
}
static inline void add_energy(const int lane, const uint energy, __local Team* team) {
  (void)atomic_add((volatile __local uint*)&team->energy, energy);
}

#endif

// A plane of a patch: of work-items next to each other that of neighbouring patches.
static inline void put_plane(const int lane, const float* plane, __local Team* team) {
  __local float2* const row = team->rows + lane % PLACES * (PITCH / 2) + lane / PLACES * 8;
  UNROLLED for (int i = 0; i < 8; ++i) row[i] = (float2)(plane[2 * i], plane[2 * i + 1]);
}
static inline void take_plane(const int lane, float* plane, __local const Team* team) {
  __local const float2* const row = team->rows + lane % PLACES * (PITCH / 2) + lane / PLACES * 8;
  UNROLLED for (int i = 0; i < 8; ++i) {
    const float2 two = row[i];
    plane[2 * i] = two.s0;
    plane[2 * i + 1] = two.s1;
  }
}

// One place in all planes of a part's patches.
static inline void put_members(const int lane, const float* numbers, __local Team* team) {
  __local float* const first = (__local float*)team->rows + lane % PARTS * MEMBERS * PITCH + lane / PARTS;
  UNROLLED for (int i = 0; i < 4 * MEMBERS; ++i) first[i / 4 * PITCH + i % 4 * 16] = numbers[i];
}
static inline void take_members(const int lane, float* numbers, __local const Team* team) {
  __local const float* const first = (__local const float*)team->rows + lane % PARTS * MEMBERS * PITCH + lane / PARTS;
  UNROLLED for (int i = 0; i < 4 * MEMBERS; ++i) numbers[i] = first[i / 4 * PITCH + i % 4 * 16];
}

// Haar's transform along the stack, there and back alike. Places behind the last member hold 0 and meet no other.
#define HAAR_FACTOR 0.70710678118654752440f
static inline void haar_within(const int apart, const int members, float* numbers) {
  if (apart >= members) return;
  UNROLLED for (int m = 0; m < MEMBERS; m += 2 * apart) {
    UNROLLED for (int z = 0; z < 4; ++z) {
      const float sum = rounded(numbers[4 * m + z] + numbers[4 * (m + apart) + z]);
      const float difference = rounded(numbers[4 * m + z] - numbers[4 * (m + apart) + z]);
      numbers[4 * m + z] = rounded(sum * HAAR_FACTOR);
      numbers[4 * (m + apart) + z] = rounded(difference * HAAR_FACTOR);
    }
  }
}
// Of parts so far apart the first members.
static inline void haar_between(const int apart, const int lane, const int members, float* numbers,
                                __local Team* team) {
  const float4 own = (float4)(numbers[0], numbers[1], numbers[2], numbers[3]);
  const float4 other = told_by(lane, apart, own, team);
  const int part = lane % PARTS;
  const float4 sum = other + ((part & apart) != 0 ? -own : own);
  const float4 changed = rounded4(rounded4(sum) * HAAR_FACTOR);
  const int takes_part = (part & (apart - 1)) == 0 && MEMBERS * apart < members;
  numbers[0] = takes_part ? changed.s0 : own.s0;
  numbers[1] = takes_part ? changed.s1 : own.s1;
  numbers[2] = takes_part ? changed.s2 : own.s2;
  numbers[3] = takes_part ? changed.s3 : own.s3;
}
static inline void haar(const int lane, const int members, float* numbers, __local Team* team) {
  haar_within(1, members, numbers);
  haar_within(2, members, numbers);
  UNROLLED for (int apart = 1; apart < PARTS; apart *= 2) haar_between(apart, lane, members, numbers, team);
}
static inline void haar_back(const int lane, const int members, float* numbers, __local Team* team) {
  UNROLLED for (int apart = PARTS / 2; apart > 0; apart /= 2) haar_between(apart, lane, members, numbers, team);
  haar_within(2, members, numbers);
  haar_within(1, members, numbers);
}
