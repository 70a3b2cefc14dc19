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
// 32 work-items, here a warp, filter 32 patches at a time, two stacks of up to 16 or one of up to 32:
//   together they gather patch after patch, a half at a time, in the warp's memory, where each finds one of its own;
//   a work-item transforms its patch in registers;
//   halves of the patches go through the warp's memory: a work-item has a voxel, and takes its members through Haar's
//   transform, the shrinking and back;
//   patches are transformed back, a work-item a patch; halves of them go through the warp's memory again, and the warp
//   adds patch after patch, 32 voxels at a time: rows and slices of the region are so far apart that these meet in as few
//   banks as can be.
// Sums are of 32 bits, two for a voxel's weighted estimates, one for its weights: those of a group are fewer than 2^12,
// each up to 2^20.
//
//   WARPS    of a group: 32 work-items each
//   PLACES   16 or 32: most members of a stack
//   WIENER   0: hard threshold, Haar's matrix, 1: Wiener filter, the DCT's
//   UNROLL   1: loops are unrolled, so that patches and stacks lie in registers; 0: for processors, which have too few
//            and compile the program in half of the time
//
// Compiles alone with: -DTYPE=0 -DPLACES=16 -DWIENER=0 -DWARPS=1 -DUNROLL=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=1 -DPLACES=16 -DWIENER=1 -DWARPS=2 -DUNROLL=1 -DEXACT_DIVISION=1 -DLONG_ATOMICS=1
// Compiles alone with: -DTYPE=2 -DPLACES=32 -DWIENER=1 -DWARPS=1 -DUNROLL=0 -DEXACT_DIVISION=0 -DLONG_ATOMICS=0
#include "ops/denoise/denoise_columns_layer.cl"
#include "ops/denoise/denoise_columns_warp.cl"
#include "ops/denoise/denoise_sums.cl"

#define TOGETHER 4

// The work-item's part.
typedef struct {
  int lane;
  int is_there[STACKS];  // is there a reference?
  int reference[STACKS];  // of the round's layer
  int counts[STACKS];     // of patches, as they are found
  uint index;             // the lower half of the work-item's patch
  int members[STACKS];
} Item;

static inline void fetch(const Step* step, const Columns* c, const int z, __global const int* counts,
                         __global const long* indices, Item* item) {
  const int stack = item->lane / PLACES;
  const int member = min(item->lane % PLACES, (int)step->places - 1);
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    if (!item->is_there[s]) continue;
    const long reference = (long)z * c->references[1] * c->references[0] + item->reference[s];
    item->counts[s] = counts[reference];
    if (s == stack) item->index = (uint)indices[reference * step->places + member];
  }
}

static inline void find_patches(const Step* step, const Columns* c, const Layer* layer, Item* item,
                                __local Warp* warp) {
  int is_member = 0;
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    item->members[s] = item->is_there[s] ? (int)filtered_members(item->counts[s]) : 0;
    if (s == item->lane / PLACES) is_member = item->lane % PLACES < item->members[s];
  }
  const int size_x = (int)step->size[0];
  const int size_y = (int)step->size[1];
  const uint first = ((uint)layer->first_slice * (uint)size_y + (uint)layer->first[1]) * (uint)size_x +
                     (uint)layer->first[0];
  // Of neighbours the lower halves of their indices tell how far they are apart.
  const int apart = is_member ? (int)(item->index - first) : 0;
  const int row = small_quotient(apart, size_x);
  const int z = small_quotient(row, size_y);
  int slot = layer->first_slice - small_quotient(layer->first_slice, c->ring) * c->ring + z;
  slot -= slot >= c->ring ? c->ring : 0;
  warp->voxels[item->lane] = apart;
  warp->sums[item->lane] = (uint)(slot * c->slice + (row - z * size_y) * c->row + (apart - row * size_x));
}

// The work-item's patch, and 0 where it has none.
static inline void load_patch(const Step* step, const Item* item, __global const element* source,
                              __global const element* instead, const int has_instead, const float scale, float* patch,
                              __local Warp* warp) {
  __local float* const rows = (__local float*)warp->rows;
  const int lane = item->lane;
  int is_member = 0;
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    if (s == lane / PLACES) is_member = lane % PLACES < item->members[s];
  }
  UNROLLED for (int part = 0; part < 2; ++part) {
    const int offset = ((2 * part + lane / 16) * (int)step->size[1] + lane / 4 % 4) * (int)step->size[0] + lane % 4;
    UNROLLED_BY_8 for (int m = 0; m < 32; ++m) {
      rows[m * PITCH + lane] = scaled_colour(source, instead, has_instead, warp->voxels[m] + offset, scale);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    take(lane, part, patch, warp);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UNROLLED for (int v = 0; v < VOXELS; ++v) patch[v] = is_member ? patch[v] : 0.0f;
}

// The work-item's voxel of so many patches from the first one on: additions wait for each other's carries together.
static inline void add_patches(const Step* step, const int patches, const int first, const uint voxel, const uint held,
                               const int lane, const int weight, __local const Warp* warp,
                               volatile __local uint* sums) {
  __local const float* const rows = (__local const float*)warp->rows;
  uint at[TOGETHER];
  ulong numbers[TOGETHER];
  uint before[TOGETHER];
  UNROLLED for (int i = 0; i < patches; ++i) {
    at[i] = voxel + warp->sums[first + i];
    at[i] = min(at[i], at[i] - held);
    numbers[i] = (ulong)((long)weight * estimate_units(step, rows[(first + i) * PITCH + lane]));
  }
  UNROLLED for (int i = 0; i < patches; ++i) before[i] = atomic_add(sums + at[i], (uint)numbers[i]);
  UNROLLED for (int i = 0; i < patches; ++i) (void)atomic_add(sums + at[i] + 2 * held, (uint)weight);
  UNROLLED for (int i = 0; i < patches; ++i) {
    const uint carry = before[i] + (uint)numbers[i] < before[i] ? 1u : 0u;
    (void)atomic_add(sums + at[i] + held, (uint)(numbers[i] >> 32) + carry);
  }
}

// A half of all patches.
static inline void add_halves(const Step* step, const Columns* c, const Item* item, const int part, const int* weights,
                              __local const Warp* warp, volatile __local uint* sums) {
  const int lane = item->lane;
  const uint held = (uint)(c->ring * c->slice);
  const uint voxel = (uint)((2 * part + lane / 16) * c->slice + lane / 4 % 4 * c->row + lane % 4);
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    const int end = s * PLACES + item->members[s];
    int first = s * PLACES;
    for (; first + TOGETHER <= end; first += TOGETHER)
      add_patches(step, TOGETHER, first, voxel, held, lane, weights[s], warp, sums);
    for (; first < end; ++first) add_patches(step, 1, first, voxel, held, lane, weights[s], warp, sums);
  }
}

// Sums of slices [first, end), which are 0 then.
static inline void hand_on(const Step* step, const Columns* c, const Layer* layer, const int first, const int end,
                           __local uint* from, __global ulong* sums) {
  const int held = c->ring * c->slice;
  const int extent = layer->extent[0];
  const int rows_on = small_quotient(32 * WARPS, extent);
  for (int z = first; z < end; ++z) {
    const int slot = (z - small_quotient(z, c->ring) * c->ring) * c->slice;
    int y = small_quotient((int)get_local_id(0), extent);
    int x = (int)get_local_id(0) - y * extent;
    while (y < layer->extent[1]) {
      const int at = slot + y * c->row + x;
      const uint weight = from[at + 2 * held];
      if (weight != 0) {
        __global ulong* const to = sums + 2 * held_index(step, layer->first[0] + x, layer->first[1] + y, z);
        add_to_sum(to, (long)(((ulong)from[at + held] << 32) + from[at]));
        add_to_sum(to + 1, weight);
        from[at] = 0;
        from[at + held] = 0;
        from[at + 2 * held] = 0;
      }
      x += 32 * WARPS - rows_on * extent;
      y += rows_on + (x >= extent ? 1 : 0);
      x -= x >= extent ? extent : 0;
    }
  }
}

// The layer's stacks of a warp, from voxels to sums.
static inline void filter_layer(const Step* step, const Columns* c, const Item* item, __global const element* volume,
                                __global const element* basic, const float scale, __global const float* scales,
                                __global const float* window, __local Warp* warp, __local uint* sums) {
  const int lane = item->lane;
  float patch[VOXELS];
  uint energies[STACKS];
  UNROLLED for (int s = 0; s < STACKS; ++s) energies[s] = 0;
#if WIENER
  float factors[VOXELS];
  load_patch(step, item, basic, basic, 0, scale, patch, warp);
  transform_cube(patch);
  UNROLLED for (int part = 0; part < 2; ++part) {
    put(lane, part, patch, warp);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED for (int s = 0; s < STACKS; ++s) {
      float numbers[PLACES];
      take_members(lane, s, numbers, warp);
      haar(item->members[s], numbers);
      energies[s] += wiener_factors(scales[1], numbers);
      UNROLLED for (int m = 0; m < PLACES; ++m) factors[(part * STACKS + s) * PLACES + m] = numbers[m];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
  load_patch(step, item, volume, basic, WIENER, scale, patch, warp);
  transform_cube(patch);
  UNROLLED for (int part = 0; part < 2; ++part) {
    put(lane, part, patch, warp);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED for (int s = 0; s < STACKS; ++s) {
      float numbers[PLACES];
      take_members(lane, s, numbers, warp);
      haar(item->members[s], numbers);
#if WIENER
      UNROLLED for (int m = 0; m < PLACES; ++m) {
        numbers[m] = rounded(numbers[m] * factors[(part * STACKS + s) * PLACES + m]);
      }
#else
      energies[s] += keep_large(scales[0], numbers);
#endif
      haar_back(item->members[s], numbers);
      put_members(lane, s, numbers, warp);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    take(lane, part, patch, warp);
  }
  UNROLLED for (int s = 0; s < STACKS; ++s) ((__local uint*)warp->energies)[s * 32 + lane] = energies[s];
  transform_cube_back(patch);
  barrier(CLK_LOCAL_MEM_FENCE);
  int weights[2][STACKS];
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    const float kept = (float)energy_of(s, warp) * (WIENER ? 1.0f / WEIGHT_UNITS : 1.0f);
    const float weight = float_ratio(1.0f, fmax(kept, 1.0f));
    weights[0][s] = weight_units(weight, window[lane]);
    weights[1][s] = weight_units(weight, window[32 + lane]);
  }
  UNROLLED for (int part = 0; part < 2; ++part) {
    put(lane, part, patch, warp);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_halves(step, c, item, part, weights[part], warp, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// `memory`: sums of the region.
__kernel __attribute__((reqd_work_group_size(32 * WARPS, 1, 1))) void denoise_columns(
    __global const element* volume, const ulong volume_first, __global const element* basic, const ulong basic_first,
    __global const float* table, __global const uint* largest, const ulong largest_first, __global const int* counts,
    const ulong counts_first, __global const long* indices, const ulong indices_first, __global ulong* sums,
    const ulong sums_first, __local uint* memory, const Step step, const Columns columns) {
  __local Warp warps[WARPS];
  __local Warp* const warp = warps + get_local_id(0) / 32;
  Layer layer = first_layer(&step, &columns, (int)get_group_id(0));
  Item item;
  item.lane = (int)get_local_id(0) % 32;
  item.index = 0;
  UNROLLED for (int s = 0; s < STACKS; ++s) {
    const int number = (int)(get_local_id(0) / 32) * STACKS + s;
    const int y = small_quotient(number, columns.tile[0]);
    const int x = number - y * columns.tile[0];
    item.is_there[s] = x < layer.references[0] && y < layer.references[1];
    item.reference[s] = (layer.y + y) * columns.references[0] + layer.x + x;
    item.counts[s] = 0;
  }
  const int exponent = scale_exponent(largest + largest_first);
  const float scale = power_of_two(-exponent);
  __global const float* const scales = table + scales_at(&step, exponent);
  __global const float* const window = table + matrix_at(&step, 3);
  volume += volume_first;
  basic += basic_first;
  counts += counts_first;
  indices += indices_first;
  sums += sums_first;

  fetch(&step, &columns, layer.z, counts, indices, &item);
  for (int i = (int)get_local_id(0); i < 3 * columns.ring * columns.slice; i += 32 * WARPS) memory[i] = 0;
  while (layer.z < layer.end_of_column) {
    find_patches(&step, &columns, &layer, &item, warp);
    const Layer next = layer_at(&step, &columns, layer, layer.z + 1);
    const int is_last = next.z == layer.end_of_column;
    if (!is_last) fetch(&step, &columns, next.z, counts, indices, &item);
    barrier(CLK_LOCAL_MEM_FENCE);
    const long first = ((long)layer.first_slice * step.size[1] + layer.first[1]) * step.size[0] + layer.first[0];
    filter_layer(&step, &columns, &item, volume + first, basic + first, scale, scales, window, warp, memory);
    hand_on(&step, &columns, &layer, layer.first_slice, is_last ? layer.end_slice : next.first_slice, memory, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
    layer = next;
  }
}
