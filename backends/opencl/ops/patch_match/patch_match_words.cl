// patch_match, packed_key_lanes, of bytes: the volume in whole words, and sums of squares.
//
//   rows        each begins at a whole word: four voxels a work-item, zeros behind the last row
//   planes      squares of a patch's voxels along x and y, for every plane of voxels   -->   norms: along z as well
//
// Compiles alone with: -DTYPE=0 -DNARROW=1
#include "ops/patch_match/patch_match_volume.cl"

// How words and norms lie.
typedef struct {
  long row_words;
  long words;   // with those behind the last row
  long planes;  // sums of them
  long norms;   // with those behind the last one
} Words;
SIZE_ON_THE_HOST(Words, 32);

__kernel void patch_match_words(__global const uchar* volume, const ulong volume_first, __global uint* words,
                                const ulong words_first, const Match match, const Words shape) {
  const long word = (long)get_global_id(0);
  if (word >= shape.words) return;
  const long rows = match.size[1] * match.size[2];
  const long row = quotient(word, shape.row_words);
  const long first = (word - row * shape.row_words) * 4;
  __global const uchar* const from = volume + volume_first + row * match.size[0] + first;
  uint packed = 0;
  for (int i = 0; i < 4; ++i) {
    if (row < rows && first + i < match.size[0]) packed |= (uint)from[i] << 8 * i;
  }
  words[words_first + word] = packed;
}

__kernel void patch_match_plane_sums(__global const uchar* volume, const ulong volume_first, __global uint* plane_sums,
                                     const ulong plane_sums_first, const Match match, const Words shape) {
  const long number = (long)get_global_id(0);
  if (number >= shape.planes) return;
  const long line = quotient(number, match.places[0]);
  const long x = number - line * match.places[0];
  const long plane = quotient(line, match.places[1]);
  const long y = line - plane * match.places[1];
  __global const uchar* row = volume + volume_first + (plane * match.size[1] + y) * match.size[0] + x;
  uint sum = 0;
  for (long j = 0; j < match.patch[1]; ++j, row += match.size[0]) {
    for (long i = 0; i < match.patch[0]; ++i) sum += (uint)row[i] * row[i];
  }
  plane_sums[plane_sums_first + number] = sum;
}

__kernel void patch_match_norms(__global const uint* plane_sums, const ulong plane_sums_first, __global uint* norms,
                                const ulong norms_first, const Match match, const Words shape) {
  const long number = (long)get_global_id(0);
  if (number >= shape.norms) return;
  const long plane = match.places[0] * match.places[1];
  uint sum = 0;
  if (number < plane * match.places[2]) {
    for (long k = 0; k < match.patch[2]; ++k) sum += plane_sums[plane_sums_first + number + k * plane];
  }
  norms[norms_first + number] = sum;
}
