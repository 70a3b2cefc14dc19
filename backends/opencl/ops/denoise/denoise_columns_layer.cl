// denoise, columns: which references a group has, what part of the volume their windows reach, and how the sums of it are
// handed on. See denoise_columns.cl.
//
// Compiles alone with: -DTYPE=0 -DLONG_ATOMICS=0
// Compiles alone with: -DTYPE=0 -DLONG_ATOMICS=1
#include "ops/denoise/denoise_sums.cl"
#include "ops/denoise/denoise_volume.cl"

// The columns of a round of references. Of each axis, x first.
typedef struct {
  int first[3];       // reference of the round, counted in the volume
  int references[3];  // of the round
  int apart[3];       // voxels from one reference to the next
  int window[3];
  int places[3];  // that a patch has in the volume
  int tile[2];    // references of a layer, along x and y
  int columns[2];
  int layers;  // of a group
  int ring;    // slices that a layer's windows reach
  int row;     // voxels from one row of the region to the next
  int slice;   // voxels from one slice of the region to the next
} Columns;
SIZE_ON_THE_HOST(Columns, 92);

// References of one z of a column, and where their windows lie.
typedef struct {
  int x, y, z;        // the column's first reference, counted in the round; z is the layer's
  int end_of_column;  // along z
  int references[2];  // of the column, along x and y
  int first[2];       // voxel that the column's windows reach
  int extent[2];
  int first_slice;
  int end_slice;
} Layer;

static inline int reference_place(const Columns* c, const int axis, const int reference) {
  return min((c->first[axis] + reference) * c->apart[axis], c->places[axis] - 1);
}
static inline int first_voxel_of(const Columns* c, const int axis, const int reference) {
  return max(reference_place(c, axis, reference) - c->window[axis] / 2, 0);
}
static inline int end_of_voxels_of(const Step* step, const Columns* c, const int axis, const int reference) {
  const int end = reference_place(c, axis, reference) - c->window[axis] / 2 + c->window[axis];
  return min(end, c->places[axis]) - 1 + (int)step->patch[axis];
}

// Oclgrind knows no structs that inlined functions return.
static inline void go_to_layer(const Step* step, const Columns* c, const int z, Layer* layer) {
  layer->z = z;
  layer->first_slice = first_voxel_of(c, 2, z);
  layer->end_slice = end_of_voxels_of(step, c, 2, z);
}
static inline void go_to_column(const Step* step, const Columns* c, const int number, Layer* layer) {
  const int row = small_quotient(number, c->columns[0]);
  const int part = small_quotient(row, c->columns[1]);
  layer->x = (number - row * c->columns[0]) * c->tile[0];
  layer->y = (row - part * c->columns[1]) * c->tile[1];
  layer->references[0] = min(c->tile[0], c->references[0] - layer->x);
  layer->references[1] = min(c->tile[1], c->references[1] - layer->y);
  layer->first[0] = first_voxel_of(c, 0, layer->x);
  layer->first[1] = first_voxel_of(c, 1, layer->y);
  layer->extent[0] = end_of_voxels_of(step, c, 0, layer->x + layer->references[0] - 1) - layer->first[0];
  layer->extent[1] = end_of_voxels_of(step, c, 1, layer->y + layer->references[1] - 1) - layer->first[1];
  layer->end_of_column = min((part + 1) * c->layers, c->references[2]);
  go_to_layer(step, c, part * c->layers, layer);
}

// A group of so many work-items hands on the sums of slices [first, end), which are 0 then.
static inline void hand_on(const Step* step, const Columns* c, const Layer* layer, const int first, const int end,
                           const int items, __local uint* from, __global ulong* sums) {
  const int held = c->ring * c->slice;
  const int extent = layer->extent[0];
  const int rows_on = small_quotient(items, extent);
  const int of_rows = (int)step->held[step->axis];  // the ring of the sums in the device's memory
  for (int z = first; z < end; ++z) {
    const int slot = (z - small_quotient(z, c->ring) * c->ring) * c->slice;
    const int to_z = step->axis == 2 ? z - small_quotient(z, of_rows) * of_rows : z;
    int y = small_quotient((int)get_local_id(0), extent);
    int x = (int)get_local_id(0) - y * extent;
    while (y < layer->extent[1]) {
      const int at = slot + y * c->row + x;
      const uint weight = from[at + 2 * held];
      if (weight != 0) {
        int to_y = layer->first[1] + y;
        if (step->axis != 2) to_y -= small_quotient(to_y, of_rows) * of_rows;
        const long row = (long)to_z * step->held[1] + to_y;
        __global ulong* const to = sums + 2 * (row * step->held[0] + layer->first[0] + x);
        add_to_sum(to, (long)(((ulong)from[at + held] << 32) + from[at]));
        add_to_sum(to + 1, weight);
        from[at] = 0;
        from[at + held] = 0;
        from[at + 2 * held] = 0;
      }
      x += items - rows_on * extent;
      y += rows_on + (x >= extent ? 1 : 0);
      x -= x >= extent ? extent : 0;
    }
  }
}
