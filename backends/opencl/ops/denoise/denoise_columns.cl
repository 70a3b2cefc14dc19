// denoise, columns: a group filters the stacks of a column of references and adds their estimates up in local memory,
// before anything goes to the sums in the device's memory. For patches of 4 x 4 x 4 voxels, whose stacks lie close
// together.
//
//      x, y: a tile of references           z: layer after layer. The sums of the region that a layer's windows reach
//      +-----------------------+            stand in local memory, slice i at place i modulo the ring. After a layer the
//      | window of the first   |            slices that no later one reaches are added to the sums in the device's memory:
//      |     r     r           |            of two references, 3 voxels from each other, with windows of 11 that is one
//      |       window of the last           addition for 3 of the stacks' own, and of whole rows, which the
//      +-----------------------+            second-level cache takes at a time.
//
// The sums leave room for few stacks, so a stack has a team of many work-items, and as few numbers in the registers of each:
//   together they gather patch after patch, a voxel each, a layer ahead;
//   a work-item takes a plane of a patch along x and y;
//   then one place in the planes of 4 patches along z, through Haar's transform along the stack (whose last levels are
//   between neighbours), the shrinking, and back along the stack;
//   then a plane again, back along x and y;
//   then one place of a patch back along z, of which it adds two voxels: 32 work-items half a patch at a time, whose voxels
//   are so far apart in the region that these meet in as few banks as can be.
// Between these the patches lie in the team's local memory.
// Sums are of 32 bits, two for a voxel's weighted estimates, one for its weights: those of a group are fewer than 2^12,
// each up to 2^20.
//
//   STACKS   of a group
//   PLACES   16 or 32: most members of a stack
//   WIENER   0: hard threshold, Haar's matrix, 1: Wiener filter, the DCT's
//   UNROLL   1: loops are unrolled, so that numbers lie in registers; 0: for processors, which compile the program in half
//            of the time
//   NVIDIA   see denoise_columns_team.cl
//
// Compiles alone with: -DTYPE=0 -DPLACES=16 -DWIENER=0 -DSTACKS=1 -DUNROLL=1 -DNVIDIA=0 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=1 -DPLACES=16 -DWIENER=1 -DSTACKS=2 -DUNROLL=1 -DNVIDIA=0 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DPLACES=32 -DWIENER=1 -DSTACKS=1 -DUNROLL=0 -DNVIDIA=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DPLACES=16 -DWIENER=0 -DSTACKS=2 -DUNROLL=1 -DNVIDIA=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_columns_layer.cl"
#include "ops/denoise/denoise_columns_team.cl"

#define GATHERED 16  // voxels of a stack's patches that a work-item gathers
#define WARPS_OF_TEAM (TEAM / 32)
#define TOGETHER 2

// The work-item's part.
typedef struct {
  int lane;       // in the team
  int is_there;   // is there a reference?
  int reference;  // of the round's layer
  int count;      // of patches, as they are found, and
  uint index;     // the lower half of a patch's: of the layer that is fetched
  int members;    // of the layer that is found
  uint sum;       // where the patch's sums stand
} Item;

static inline void fetch(const Step* step, const Columns* c, const int z, __global const int* counts,
                         __global const long* indices, Item* item) {
  if (!item->is_there) return;
  const int member = min(item->lane % PLACES, (int)step->places - 1);
  const long reference = (long)z * c->references[1] * c->references[0] + item->reference;
  item->count = counts[reference];
  item->index = (uint)indices[reference * step->places + member];
}

// Where the patches that were fetched lie, counted from the first voxel that the layer reaches.
static inline void find_patches(const Step* step, const Columns* c, const Layer* layer, Item* item,
                                __local Team* team) {
  item->members = item->is_there ? (int)filtered_members(item->count) : 0;
  if (item->lane >= PLACES) return;
  const int size_x = (int)step->size[0];
  const int size_y = (int)step->size[1];
  const uint first = ((uint)layer->first_slice * (uint)size_y + (uint)layer->first[1]) * (uint)size_x +
                     (uint)layer->first[0];
  // Of neighbours the lower halves of their indices tell how far they are apart.
  const int apart = item->lane < item->members ? (int)(item->index - first) : 0;
  const int row = small_quotient(apart, size_x);
  const int z = small_quotient(row, size_y);
  int slot = layer->first_slice - small_quotient(layer->first_slice, c->ring) * c->ring + z;
  slot -= slot >= c->ring ? c->ring : 0;
  item->sum = (uint)(slot * c->slice + (row - z * size_y) * c->row + (apart - row * size_x));
  *place_of_patch(team, item->lane) = apart;
}

// One voxel of every patch, or of every other one.
typedef struct {
  element volume[GATHERED];
#if WIENER
  element basic[GATHERED];
#endif
} Voxels;

static inline void gather(const int offset, const int lane, __global const element* source, __local Team* team,
                          element* voxels) {
  UNROLLED for (int i = 0; i < GATHERED; ++i) {
    voxels[i] = source[*place_of_patch(team, i * (TEAM / VOXELS) + lane / VOXELS) + offset];
  }
}
static inline void gather_layer(const Step* step, const Item* item, const Layer* layer, __global const element* volume,
                                __global const element* basic, __local Team* team, Voxels* voxels) {
  const long first = ((long)layer->first_slice * step->size[1] + layer->first[1]) * step->size[0] + layer->first[0];
  const int v = item->lane % VOXELS;
  const int offset = (v / 16 * (int)step->size[1] + v / 4 % 4) * (int)step->size[0] + v % 4;
  gather(offset, item->lane, volume + first, team, voxels->volume);
#if WIENER
  gather(offset, item->lane, basic + first, team, voxels->basic);
#endif
}
// Places behind the last member become 0.
static inline void put_voxels(const Item* item, const element* voxels, const float scale, __local Team* team) {
  __local float* const rows = (__local float*)team->rows + item->lane % VOXELS;
  UNROLLED for (int i = 0; i < GATHERED; ++i) {
    const int m = i * (TEAM / VOXELS) + item->lane / VOXELS;
    rows[m * PITCH] = m < item->members ? (float)voxels[i] * scale : 0.0f;
  }
}

// Patches in the team's memory along x and y; then one place of some of them, along z and the stack.
static inline void transform(const Item* item, float* numbers, __local Team* team) {
  wait_for_team();
  take_plane(item->lane, numbers, team);
  transform_plane(numbers);
  put_plane(item->lane, numbers, team);
  wait_for_team();
  take_members(item->lane, numbers, team);
  transform_planes(numbers);
  haar(item->lane, item->members, numbers, team);
}

// The stack, from its voxels to its patches' planes, which lack the way back along z.
static inline void filter_stack(const Item* item, const Voxels* voxels, const float scale, __global const float* scales,
                                __local Team* team) {
  float numbers[4 * MEMBERS];
#if WIENER
  float factors[4 * MEMBERS];
  put_voxels(item, voxels->basic, scale, team);
  transform(item, factors, team);
  add_energy(item->lane, wiener_factors(scales[1], factors), team);
  wait_for_team();
#if TYPE == 2
  element finite[GATHERED];
  UNROLLED for (int i = 0; i < GATHERED; ++i) {
    finite[i] = isfinite(voxels->volume[i]) ? voxels->volume[i] : voxels->basic[i];
  }
  put_voxels(item, finite, scale, team);
#else
  put_voxels(item, voxels->volume, scale, team);
#endif
  transform(item, numbers, team);
  UNROLLED for (int i = 0; i < 4 * MEMBERS; ++i) numbers[i] = rounded(numbers[i] * factors[i]);
#else
  put_voxels(item, voxels->volume, scale, team);
  transform(item, numbers, team);
  add_energy(item->lane, keep_large(scales[0], numbers), team);
#endif
  haar_back(item->lane, item->members, numbers, team);
  put_members(item->lane, numbers, team);
  wait_for_team();
  take_plane(item->lane, numbers, team);
  transform_plane_back(numbers);
  put_plane(item->lane, numbers, team);
}

// Two voxels at one place of a patch, back along z: planes 0 and 2, or 1 and 3.
static inline float2 two_planes(const int is_odd, const float4 y) {
#if WIENER
  const float even = is_odd ? SMALL : LARGE;
  const float odd = is_odd ? LARGE : SMALL;
  const float sign = is_odd ? -1.0f : 1.0f;
  const float third = 0.5f * sign;
  return (float2)(fma(third, y.s2, fma(0.5f, y.s0, rounded(even * y.s1))) + rounded(sign * odd * y.s3),
                  fma(-third, y.s2, fma(0.5f, y.s0, rounded(-odd * y.s1))) + rounded(sign * even * y.s3));
#else
  const float fine = is_odd ? -FINE : FINE;
  return (float2)(fma(0.5f, y.s0 + y.s1, rounded(fine * y.s2)), fma(0.5f, y.s0 - y.s1, rounded(fine * y.s3)));
#endif
}

// So many patches from this one on, every WARPS_OF_TEAM-th: additions wait for each other's carries together.
static inline void add_patches(const Step* step, const Columns* c, const int patches, const int first,
                               const uint voxel, const int lane, const int* weights, __local Team* team,
                               volatile __local uint* sums) {
  const uint held = (uint)(c->ring * c->slice);
  uint at[2 * TOGETHER];
  ulong numbers[2 * TOGETHER];
  uint before[2 * TOGETHER];
  UNROLLED for (int i = 0; i < patches; ++i) {
    const int m = first + i * WARPS_OF_TEAM;
    __local const float* const four = (__local const float*)team->rows + m * PITCH + lane % 16;
    const float2 estimates = two_planes(lane & 16, (float4)(four[0], four[16], four[32], four[48]));
    const uint of_patch = *sum_of_patch(team, m) + voxel;
    at[2 * i] = min(of_patch, of_patch - held);
    at[2 * i + 1] = min(of_patch + 2 * c->slice, of_patch + 2 * c->slice - held);
    numbers[2 * i] = (ulong)((long)weights[0] * estimate_units(step, estimates.s0));
    numbers[2 * i + 1] = (ulong)((long)weights[1] * estimate_units(step, estimates.s1));
  }
  UNROLLED for (int i = 0; i < 2 * patches; ++i) before[i] = atomic_add(sums + at[i], (uint)numbers[i]);
  UNROLLED for (int i = 0; i < 2 * patches; ++i) (void)atomic_add(sums + at[i] + 2 * held, (uint)weights[i % 2]);
  UNROLLED for (int i = 0; i < 2 * patches; ++i) {
    const uint carry = before[i] + (uint)numbers[i] < before[i] ? 1u : 0u;
    (void)atomic_add(sums + at[i] + held, (uint)(numbers[i] >> 32) + carry);
  }
}

// The stack's patches: 32 work-items have every one of so many.
static inline void add_estimates(const Step* step, const Columns* c, const int lane_of_team, const int members,
                                 __global const float* window, __local Team* team, volatile __local uint* sums) {
  const int lane = lane_of_team % 32;
  const float kept = (float)team->energy * (WIENER ? 1.0f / WEIGHT_UNITS : 1.0f);
  const float weight = float_ratio(1.0f, fmax(kept, 1.0f));
  int weights[2];
  weights[0] = weight_units(weight, window[lane]);
  weights[1] = weight_units(weight, window[32 + lane]);
  const uint voxel = (uint)(lane / 16 * c->slice + lane / 4 % 4 * c->row + lane % 4);
  int m = lane_of_team / 32;
  for (; m + (TOGETHER - 1) * WARPS_OF_TEAM < members; m += TOGETHER * WARPS_OF_TEAM)
    add_patches(step, c, TOGETHER, m, voxel, lane, weights, team, sums);
  for (; m < members; m += WARPS_OF_TEAM) add_patches(step, c, 1, m, voxel, lane, weights, team, sums);
}

// `memory`: sums of the region.
__kernel __attribute__((reqd_work_group_size(TEAM * STACKS, 1, 1))) void denoise_columns(
    __global const element* volume, const ulong volume_first, __global const element* basic, const ulong basic_first,
    __global const float* table, __global const uint* largest, const ulong largest_first, __global const int* counts,
    const ulong counts_first, __global const long* indices, const ulong indices_first, __global ulong* sums,
    const ulong sums_first, __local uint* memory, const Step step, const Columns columns) {
  __local Team teams[STACKS];
  __local Team* const team = teams + get_local_id(0) / TEAM;
  Layer layer;
  go_to_column(&step, &columns, (int)get_group_id(0), &layer);
  const int number = (int)get_local_id(0) / TEAM;
  const int y = small_quotient(number, columns.tile[0]);
  const int x = number - y * columns.tile[0];
  Item item;
  item.lane = (int)get_local_id(0) % TEAM;
  item.is_there = x < layer.references[0] && y < layer.references[1];
  item.reference = (layer.y + y) * columns.references[0] + layer.x + x;
  item.count = 0;
  item.index = 0;
  item.sum = 0;
  const int exponent = scale_exponent(largest + largest_first);
  const float scale = power_of_two(-exponent);
  __global const float* const scales = table + scales_at(&step, exponent);
  __global const float* const window = table + matrix_at(&step, 3);
  volume += volume_first;
  basic += basic_first;
  counts += counts_first;
  indices += indices_first;
  sums += sums_first;

  Voxels voxels;
  fetch(&step, &columns, layer.z, counts, indices, &item);
  for (int i = (int)get_local_id(0); i < 3 * columns.ring * columns.slice; i += TEAM * STACKS) memory[i] = 0;
  find_patches(&step, &columns, &layer, &item, team);
  barrier(CLK_LOCAL_MEM_FENCE);
  gather_layer(&step, &item, &layer, volume, basic, team, &voxels);
  while (true) {
    if (item.lane < PLACES) *sum_of_patch(team, item.lane) = item.sum;
    if (item.lane == 0) team->energy = 0;
    Layer next = layer;
    go_to_layer(&step, &columns, layer.z + 1, &next);
    const int is_last = next.z == layer.end_of_column;
    if (!is_last) fetch(&step, &columns, next.z, counts, indices, &item);
    filter_stack(&item, &voxels, scale, scales, team);
    const int members = item.members;
    if (!is_last) find_patches(&step, &columns, &next, &item, team);
    wait_for_team();
    // They arrive while this layer is added.
    if (!is_last) gather_layer(&step, &item, &next, volume, basic, team, &voxels);
    add_estimates(&step, &columns, item.lane, members, window, team, memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    const int end = is_last ? layer.end_slice : next.first_slice;
    hand_on(&step, &columns, &layer, layer.first_slice, end, TEAM * STACKS, memory, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_last) return;
    layer = next;
  }
}
