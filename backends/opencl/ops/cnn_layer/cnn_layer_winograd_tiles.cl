// cnn_layer, winograd: what its kernels share: where tiles lie, and numbers of WIDTH tiles as one vector. Options:
// FLOAT64, 0 or 1; OUTPUTS and FILTER, the sides of a tile and of the filter; WIDTH, tiles that a work-item takes at
// once; ITEMS, work-items of a group.
//
//   pass: images that go through together         chunk: tiles whose pixels are transformed, multiplied and transformed
//   +-----+-----+-----+                           back, before the next chunk's take their place in the workspace
//   |tiles|     |     |
//   |     |     |     |     tiles are numbered row by row, image by image; a launch is told the number of its chunk, counted
//   +-----+-----+-----+     through all passes
//
//   transformed pixels     for each of POINTS * POINTS points: input channels x tiles of the chunk
//   products               for each point: output channels x tiles
//
// Compiles alone with: -DFLOAT64=0 -DOUTPUTS=4 -DFILTER=5 -DWIDTH=16 -DITEMS=1
// Compiles alone with: -DFLOAT64=1 -DOUTPUTS=4 -DFILTER=3 -DWIDTH=1 -DITEMS=128
#include "ops/cnn_layer/cnn_layer_images.cl"

#if WIDTH == 1
typedef real vector;
#define LOAD_VECTOR(i, from) ((from)[i])
#define STORE_VECTOR(value, i, to) ((to)[i] = (value))
#else
#include "ops/vector.cl"
#endif

#define POINTS (OUTPUTS + FILTER - 1)
#define GROUP_TILES (ITEMS * WIDTH)

// The host's CnnLayerWinogradScalars.
typedef struct {
  long images;                // of a pass
  long chunks;                // of a pass
  long chunk;                 // tiles of a chunk
  long image_tiles, row_tiles;
  long channels_of_group;     // that a group transforms, one after the other
  long leading;               // elements from one row of a matrix to the next
  long input_matrix, product_matrix;  // elements from one point's to the next
  long panel;                 // output channels that lie together in transformed weights
  long panels;
  long target_image, target_channel, target_pixel;  // of the output, or of sums before the pool
  long target_height, target_width;
  long magnitudes_at, doubts_at, shifts_at, transformed_at, products_at;  // bytes from where the workspace begins
  float limit;             // from which on tiles are in doubt
  float doubt_of_largest;  // what the largest magnitude of a patch counts beside its pixels' own growth
  int pooled;              // the maximum of each 2 x 2 window, with stride 2, is stored
  int is_part;             // plain sums are stored, for cnn_layer_finish.cl
  int growth_power;        // a transformed pixel is less than 2^this times the largest of its patch
  int unused;              // up to a multiple of 8
} Winograd;
SIZE_ON_THE_HOST(Winograd, 192);

// What lies in the workspace, of which kernels are given one pointer for all: each costs a launch some time.
#define IN_WORKSPACE(type, at) ((__global type *)(workspace + workspace_first + winograd.at))

// Where a tile lies. Without one there, image is negative. The host sees to it that 32 bits hold these numbers.
typedef struct {
  int image;  // of the batch
  int y, x;   // of its first sum
} Place;

// The first image of the pass to which a chunk belongs, and the first tile of the chunk in it.
static inline int first_image_of_pass(const long chunk_number, const Winograd *winograd) {
  return small_quotient((int)chunk_number, (int)winograd->chunks) * (int)winograd->images;
}
static inline int first_tile_of_chunk(const long chunk_number, const Winograd *winograd) {
  const int chunks = (int)winograd->chunks;
  return ((int)chunk_number - small_quotient((int)chunk_number, chunks) * chunks) * (int)winograd->chunk;
}

// Tile `number` of the pass that begins with `first_image`.
static inline Place place_of_tile(const int number, const int first_image, const Layer *layer,
                                  const Winograd *winograd) {
  const int image_tiles = (int)winograd->image_tiles;
  const int row_tiles = (int)winograd->row_tiles;
  const int in_pass = small_quotient(number, image_tiles);
  const int in_image = number - in_pass * image_tiles;
  const int row = small_quotient(in_image, row_tiles);
  Place place;
  place.image = first_image + in_pass;
  if (in_pass >= winograd->images || place.image >= layer->batch) place.image = -1;
  place.y = row * OUTPUTS;
  place.x = (in_image - row * row_tiles) * OUTPUTS;
  return place;
}

// A sum and a multiple, of a matrix's number. That is known to the compiler once loops are unrolled, so one that is 0 or 1
// costs nothing. Sums begin with -0, because what is added to that costs nothing either.
static inline vector with_multiple(const vector sum, const real number, const vector value) {
  if (number == 0) return sum;
  if (number == 1) return sum + value;
  if (number == -1) return sum - value;
  return sum + number * value;
}
