// patch_match, box_sums of bytes by NVIDIA's tensor cores: patches of 4 x 4 x 4, windows up to 11 along each axis, a
// reference at every place, up to 16 kept. CUDA's program of patch_match_box_bytes.cu in 48 KiB of local memory.
//
//   a warp      multiplies the patches of its 16 references by those of 8 candidates at a time, 64 bytes each, by two
//               products of the tensor cores (patch_match_box_bytes_walk.cl)
//
//   distance = norm of reference + norm of candidate - 2 * sum of products. Sums begin at half the candidate's norm,
//   negative, so that a comparison is all that a pair takes.
//
// Candidates are looked at twice, first for a limit that 16 are within, then for a list of all that are: about 20 mostly,
// since the limit is near the 16th. Where the sums of the second walk are is not kept: the listed ones' distances are found
// once more, a candidate a lane, sorted and written (patch_match_box_bytes_nearest.cl).
//
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=11 -DWINDOW_Y=11 -DWINDOW_Z=11
// Compiles alone with: -target nvptx64 -fgnu-keywords -DTYPE=0 -DNARROW=1 -DWINDOW_X=4 -DWINDOW_Y=1 -DWINDOW_Z=9
#include "ops/patch_match/patch_match_box_bytes_nearest.cl"

// Every other bit, the first one and so on.
ALWAYS_INLINE uint even_bits(uint bits) {
  bits &= 0x55555555u;
  bits = (bits | bits >> 1) & 0x33333333u;
  bits = (bits | bits >> 2) & 0x0f0f0f0fu;
  bits = (bits | bits >> 4) & 0x00ff00ffu;
  return (bits | bits >> 8) & 0xffffu;
}

// Stacks of the warp's references: of the lane's two so many are listed, up to these ends.
ALWAYS_INLINE void write_listed(const Out* out, const int counts[2], const int ends[2]) {
  const int lane = (int)get_local_id(0) % 32;
  // From here on lanes 2 i and 2 i + 1 have reference i, of which four lanes have the list.
  const int from = lane % 16 / 2 * 4;
  const int count_of_first = of_lane(counts[0], from);
  const int count_of_second = of_lane(counts[1], from);
  const int end_of_first = of_lane(ends[0], from);
  const int end_of_second = of_lane(ends[1], from);
  const int end = lane < 16 ? end_of_first : end_of_second;
  const int is_listed = end <= LISTED;
  const int count = !is_listed ? 0 : lane < 16 ? count_of_first : count_of_second;
  uint stack[PLACES];
  const int is_beyond = find_stacks(out, is_listed ? end - count : 0, count, stack);
  const int is_there = is_reference_of(out, lane / 2);
  const int is_found = is_listed && !is_beyond;
  write_stacks(out, stack, even_bits(which_are(is_there && is_found)));
#pragma unroll 1
  for (uint left = even_bits(which_are(is_there && !is_found)); left != 0; left &= left - 1) {
    find_together(out, 31 - (int)clz(left & -left));
  }
}

// In groups of ITEMS. It does not say so, since NVIDIA's driver then heeds no bound on registers.
__kernel void patch_match_box_bytes(PATCH_MATCH_OPERANDS, const Match match, const Box box) {
  __local Shared shared __attribute__((aligned(128)));
  const int warp = (int)get_local_id(0) / 32;
  Tile tile;
  Unit unit;
  find_tile(&match, &box, &tile);
  find_unit(&unit);
  load_tile(&match, &tile, volume + volume_first, &shared);
  int listed[2];
  int ends[2];
  {
    Walk walk;
    begin_walk(&unit, &shared, &walk);
    find_limits(&match, &box, &tile, &unit, &shared, &walk);
    note(&unit, &shared, &walk);
    list_noted(&unit, &shared, &walk, listed, ends);
  }
  Out out;
  out.match = &match;
  out.box = &box;
  out.tile = &tile;
  out.unit = &unit;
  out.words = shared.words;
  out.norms = shared.norms;
  out.notes = shared.notes[warp];
  out.lists = shared.lists[warp];
  out.counts = counts + counts_first;
  out.distances = distances + distances_first;
  out.indices = indices + indices_first;
  write_listed(&out, listed, ends);
}
