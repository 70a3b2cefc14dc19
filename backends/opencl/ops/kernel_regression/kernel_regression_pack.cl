// kernel_regression by tiles: rows as tiles read them, of the training set once, of queries in each round.
//
//   rows, as given            panels of `width` rows: their numbers lie in the order in which they are used
//   +-----------+             +-----+-----+-----+ ...
//   | row 0     |   ->        |p = 0|p = 1|p = 2|          and a squared length for each row, FAR for one that has no
//   | row 1     |             |of 8 |of 8 |of 8 |          part or is not there, whose numbers are 0.
//   +-----------+             +-----+-----+-----+
//
// Numbers with a fraction are packed less the mean of the first training rows, so that lengths are as small as distances
// are, or nearly so. A slab of a training set has these rows before its own, so that the mean is that of the whole set.
// Numbers behind a row's last column, up to `depth`, are 0 too.
//
// With TENSOR, for kernel_regression_tensor.cl, eight numbers of a row lie together, the steps of a panel one after the
// other. Every second four rows have the halves of their eight exchanged: so eight rows' halves lie in different banks.
// With CHUNKS, for kernel_regression_wgmma.cl, four numbers of a row lie together, and those of a panel's rows side by side.
//
// Compiles alone with: -DBYTES=0 -DFLOAT64=0 -DNUMBERS=1 -DWIDTH=4 -DDP4A=0 -DGROUP=64
// Compiles alone with: -DBYTES=0 -DFLOAT64=1 -DNUMBERS=1 -DWIDTH=2 -DDP4A=0 -DGROUP=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DGROUP=16
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DGROUP=64 -DTENSOR=1
// Compiles alone with: -DBYTES=1 -DFLOAT64=0 -DNUMBERS=4 -DWIDTH=4 -DDP4A=0 -DGROUP=64 -DCHUNKS=1
#include "ops/kernel_regression/kernel_regression_packing.cl"

#define PACKED_AT_ONCE 8
#define CHUNK 4

// Where number p of a panel's row lies.
static inline long place_in_panel(const long p, const long row, const long width) {
#if CHUNKS
  return (p / CHUNK * width + row) * CHUNK + p % CHUNK;
#elif TENSOR
  return (p / PACKED_AT_ONCE * width + row) * PACKED_AT_ONCE + (p % PACKED_AT_ONCE ^ row / 4 % 2 * 4);
#else
  return p * width + row;
#endif
}

// The squared length of a row, FAR if it has no part, by a group of GROUP work-items, all of which get it.
static inline number length_of(__global const element* row, __global const number* centre, const int is_there,
                               const Packing packing, __local apart* sums, __local apart* given) {
  const int item = (int)get_local_id(0);
  const long columns = is_there ? packing.columns : 0;
  apart sum = 0;
  apart sum_given = 0;
  for (long j = item; j < columns; j += GROUP) {
    const apart as_given = (apart)row[j];
    sum_given += as_given * as_given;
#if !BYTES
    const apart away = packing.is_centred ? as_given - centre[j] : as_given;
    sum += away * away;
#endif
  }
  sums[item] = sum;
  given[item] = sum_given;
#pragma unroll 1
  for (int distance = GROUP / 2; distance > 0; distance /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < distance) {
      sums[item] += sums[item + distance];
      given[item] += given[item + distance];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if BYTES
  return is_there ? given[0] : FAR;
#else
  return is_there && isfinite(sums[0]) && isfinite(given[0]) ? sums[0] : FAR;
#endif
}

__kernel void kernel_regression_lengths(__global const element* rows, const ulong rows_first,
                                        __global const number* centre, const ulong centre_first,
                                        __global number* lengths, const ulong lengths_first, const Packing packing,
                                        const long round_number) {
  __local apart sums[GROUP];
  __local apart given[GROUP];
  const long in_round = (long)get_group_id(0);
  const long row = round_number * packing.padded_rows + in_round;
  const number length = length_of(rows + rows_first + row * packing.columns, centre + centre_first, row < packing.rows,
                                  packing, sums, given);
  if (get_local_id(0) == 0) lengths[lengths_first + in_round] = length;
}

#if !BYTES
// The mean of each column of the rows that have a part, a work-item each; 0 where it is not finite.
__kernel void kernel_regression_centre(__global const element* rows, const ulong rows_first,
                                       __global const number* lengths, const ulong lengths_first,
                                       __global number* centre, const ulong centre_first, const Packing packing,
                                       const long round_number) {
  const long column = (long)get_global_id(0);
  if (column >= packing.columns) return;
  double sum = 0;
  double count = 0;
  for (long row = 0; row < packing.rows; ++row) {
    if (isinf(lengths[lengths_first + row])) continue;
    sum += (double)rows[rows_first + row * packing.columns + column];
    count += 1;
  }
  const number mean = (number)ratio(sum, fmax(count, 1.0));
  centre[centre_first + column] = isfinite(mean) ? mean : 0;
}
#endif

#if BYTES
// Four bytes that lie as a word of such numbers does.
#if NUMBERS == 4 && defined(__ENDIAN_LITTLE__)
#define IS_WORD(at) ((size_t)(at) % 4 == 0)
#else
#define IS_WORD(at) 0
#endif
#endif

// Number p of a packed row.
static inline number packed_number(__global const element* row, __global const number* centre, const long p,
                                   const int counts, const Packing packing) {
  number packed = 0;
#if BYTES
  if (IS_WORD(row + p * NUMBERS) && counts && (p + 1) * NUMBERS <= packing.columns) {
    packed = *(__global const uint*)(row + p * NUMBERS);
  } else {
    for (long j = p * NUMBERS; counts && j < min(packing.columns, (p + 1) * NUMBERS); ++j) {
      packed |= (uint)row[j] << ((j - p * NUMBERS) * (32 / NUMBERS));
    }
  }
#else
  if (counts && p < packing.columns) packed = row[p] - centre[p];
#endif
  return packed;
}

// One work-item a row and PACKED_AT_ONCE of its numbers; neighbours have neighbouring rows.
__kernel void kernel_regression_pack(__global const element* rows, const ulong rows_first,
                                     __global const number* centre, const ulong centre_first,
                                     __global const number* lengths, const ulong lengths_first,
                                     __global number* panels, const ulong panels_first, const Packing packing,
                                     const long round_number) {
  const long item = (long)get_global_id(0);
  const long piece = quotient(item, packing.padded_rows);
  const long in_round = item - piece * packing.padded_rows;
  const long end = min(packing.depth, (piece + 1) * PACKED_AT_ONCE);
  const long row = round_number * packing.padded_rows + in_round;
  const long panel = quotient(in_round, packing.width);
  if (piece * PACKED_AT_ONCE >= end) return;
  const int counts = row < packing.rows && lengths[lengths_first + in_round] < FAR;
  rows += rows_first + row * packing.columns;
  centre += centre_first;
  panels += panels_first + panel * packing.width * packing.depth;
  for (long p = piece * PACKED_AT_ONCE; p < end; ++p) {
    panels[place_in_panel(p, in_round - panel * packing.width, packing.width)] =
        packed_number(rows, centre, p, counts, packing);
  }
}

// Both at once, a group of GROUP work-items a row: what neighbours write lies far apart, but there is a launch less.
__kernel void kernel_regression_pack_few(__global const element* rows, const ulong rows_first,
                                         __global const number* centre, const ulong centre_first,
                                         __global number* lengths, const ulong lengths_first, __global number* panels,
                                         const ulong panels_first, const Packing packing, const long round_number) {
  __local apart sums[GROUP];
  __local apart given[GROUP];
  const long in_round = (long)get_group_id(0);
  const long row = round_number * packing.padded_rows + in_round;
  const long panel = quotient(in_round, packing.width);
  rows += rows_first + row * packing.columns;
  centre += centre_first;
  panels += panels_first + panel * packing.width * packing.depth;
  const number length = length_of(rows, centre, row < packing.rows, packing, sums, given);
  if (get_local_id(0) == 0) lengths[lengths_first + in_round] = length;
  for (long p = (long)get_local_id(0); p < packing.depth; p += GROUP) {
    panels[place_in_panel(p, in_round - panel * packing.width, packing.width)] =
        packed_number(rows, centre, p, length < FAR, packing);
  }
}
