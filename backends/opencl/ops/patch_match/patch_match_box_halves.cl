// patch_match, box_sums of floats and 16 bits by NVIDIA's tensor cores: patches of 4 x 4 x 4, windows up to 11 along each
// axis, a reference at every place, up to 16 kept. CUDA's program of patch_match_box_halves.cu in 48 KiB of local memory.
//
//   a warp      multiplies the patches of its 16 references by those of 8 candidates at a time, voxels rounded to fp16,
//               by four products of the tensor cores (patch_match_box_halves_products.cl)
//
//   distance = norm of reference + norm of candidate - 2 * sum of products
//
// These distances only screen. All candidates are looked at twice (patch_match_box_halves_walk.cl), first for a limit that
// 16 are within, then for a list of all that are: about 20 mostly, since the limit is near the 16th, and a bound tells how
// far those may be that rounding makes nearer. The listed ones' distances are found as they are defined (decision 0017),
// and written in order (patch_match_box_listed.cl). Where ties fill the warp's list, or fp16 does not hold the voxels, all
// lanes look at a reference together.
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=1 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=2 -DNARROW=0 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_listed.cl"

// Stacks of the warp's references: of the lane's two so many are listed, up to these ends.
ALWAYS_INLINE void write_listed(const Out* out, __local Shared* shared, const int counts[2], const int ends[2]) {
  const int lane = (int)get_local_id(0) % 32;
  // From here on lane i has reference i.
  const int from = lane % 8 * 4;
  const int count_of_first = of_lane(counts[0], from);
  const int count_of_second = of_lane(counts[1], from);
  const int end_of_first = of_lane(ends[0], from);
  const int end_of_second = of_lane(ends[1], from);
  const int count = lane < 8 ? count_of_first : count_of_second;
  const int end = lane < 8 ? end_of_first : end_of_second;
  const int is_there = lane < UNIT_REFERENCES && is_reference_of(out, lane);
  const int is_listed = is_there && end <= LISTED;
  const int is_short = is_listed && count <= TOGETHER;
  const int short_count = is_short ? count : 0;
  const int short_begin = is_short ? end - count : 0;
  __local const ushort* const lists = lists_of(shared);
#pragma unroll 1
  for (int number = lane / HALF; number < UNIT_REFERENCES; number += 2) {
    const int size = of_lane(short_count, number);
    const int begin = of_lane(short_begin, number);
    find_distances(out, number, lists + begin, size, 0);
  }
  const int is_tied_of_two = sort_listed(out, of_lane(short_count, lane / 2));
  const int is_tied = of_lane(is_tied_of_two, 2 * (lane % UNIT_REFERENCES));
  const int is_sorted = is_short && !is_tied;
  const uint written = which_are(is_sorted);
  const uint found = which_are(is_short);
#pragma unroll 1
  for (int number = lane / HALF; number < UNIT_REFERENCES; number += 2) {
    const int begin = of_lane(short_begin, number);
    write_two(out, number, lists + begin, (written >> number & 1) != 0);
  }
  sync_lanes();
#pragma unroll 1
  for (uint left = which_are(is_listed && !is_sorted); left != 0; left &= left - 1) {
    const int number = 31 - (int)clz(left & -left);
    const int size = of_lane(count, number);
    const int begin = of_lane(end - count, number);
    write_long(out, number, lists + begin, size, (found >> number & 1) != 0);
  }
#pragma unroll 1
  for (uint left = which_are(is_there && !is_listed); left != 0; left &= left - 1) {
    find_together(out, 31 - (int)clz(left & -left));
  }
}

// In groups of ITEMS. It does not say so, since NVIDIA's driver then heeds no bound on registers.
__kernel void patch_match_box_halves(PATCH_MATCH_OPERANDS, const Match match, const Box box) {
  __local Shared shared __attribute__((aligned(128)));
  const int warp = (int)get_local_id(0) / 32;
  Tile tile;
  Unit unit;
  find_tile(&match, &box, &tile);
  find_unit(&unit);
  const Scale scale = load_tile(&match, &tile, volume + volume_first, &shared);
  Walk walk;
  if (scale.scale != 0) {
    begin_walk(&match, &tile, &unit, &scale, &shared, &walk);
    find_limits(&unit, &shared, &walk);
    note(&unit, &shared, &walk);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  Between between;
  load_voxels(&match, &tile, volume + volume_first, (__local element*)shared.bytes, &between);
  int listed[2] = {0, 0};
  int ends[2] = {LISTED + 1, LISTED + 1};
  if (scale.scale != 0) list_noted(&unit, &shared, &walk, listed, ends);
  barrier(CLK_LOCAL_MEM_FENCE);
  Out out;
  out.match = &match;
  out.tile = &tile;
  out.unit = &unit;
  out.voxels = (__local const element*)shared.bytes;
  out.stacks = (__local uint*)noted_by(&shared, warp);
  out.found = out.stacks + STACK_BYTES / 4;
  out.upper = (__local uchar*)(out.found + DISTANCES);
  out.counts = counts + counts_first;
  out.distances = distances + distances_first;
  out.indices = indices + indices_first;
  write_listed(&out, &shared, listed, ends);
}
