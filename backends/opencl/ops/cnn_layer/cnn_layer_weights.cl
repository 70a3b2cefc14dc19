// cnn_layer, implicit_gemm_local, implicit_gemm_panels and subtile: prepares weights, once for each set of them;
// cnn_layer_product.cl draws the form.
//
//   weights                            prepared              One work-item, one prepared element: neighbours write
//   +--------------------------+       +-----------+         neighbouring output channels of one step. Behind the last
//   | o = 0: c = 0: places     |       | step 0    |         channel and the last step stand zeros. The items of a
//   |        c = 1: places     |  -->  | step 1    |         step's first channel write its three ints too.
//   | o = 1: ...               |       | ...  o -> |
//   +--------------------------+       +-----------+
//
// Steps stand `chunk` channels by `chunk` channels, in them place by place of the filter, and there channel by channel.
// chunk = 1 is the order of the raw weights; all channels that of pixels whose channels lie beside each other.
//
// Compiles alone with: -DFLOAT64=0
// Compiles alone with: -DFLOAT64=1
#include "ops/cnn_layer/cnn_layer_images.cl"
#include "ops/cnn_layer/cnn_layer_product.cl"

typedef struct {
  long row;
  long column;
  long channel;
} Step;

static inline Step step_at(const long step, const long chunk, const Layer *layer) {
  const long places = layer->filter_height * layer->filter_width;
  const long run = quotient(step, chunk);
  const long first_channels = quotient(run, places);
  const long place = run - first_channels * places;
  Step at;
  at.channel = first_channels * chunk + step - run * chunk;
  at.row = quotient(place, layer->filter_width);
  at.column = place - at.row * layer->filter_width;
  return at;
}

// The host's CnnWeightsForm.
typedef struct {
  long steps, padded_steps;  // of the weights; as prepared
  long panel, panels;        // output channels of a panel, and how many there are
  long chunk;
  long channel_step, row_step, pixel_step;  // of the images that will be read, whose offsets the first int holds
} Form;
SIZE_ON_THE_HOST(Form, 64);

__kernel void cnn_layer_weights(__global const real *restrict weights, const ulong weights_first,
                                __global real *restrict prepared, const ulong prepared_first, const Layer layer,
                                const Form form) {
  const long index = (long)get_global_id(0);
  const long row = quotient(index, form.panel);
  if (row >= form.panels * form.padded_steps) return;
  const long in_panel = index - row * form.panel;
  const long panel_index = quotient(row, form.padded_steps);
  const long step = row - panel_index * form.padded_steps;
  const long output_channel = panel_index * form.panel + in_panel;
  const Step at = step_at(step, form.chunk, &layer);
  const int is_step = step < form.steps;
  real weight = 0;
  if (is_step && output_channel < layer.output_channels) {
    weight = weights[weights_first +
                     ((output_channel * layer.input_channels + at.channel) * layer.filter_height + at.row) *
                         layer.filter_width +
                     at.column];
  }
  prepared += prepared_first;
  prepared[index] = weight;
  if (index < form.padded_steps * form.panel && in_panel == 0) {
    __global int *const places = (__global int *)(prepared + form.panels * form.padded_steps * form.panel);
    const long offset = at.channel * form.channel_step + at.row * form.row_step + at.column * form.pixel_step;
    places[step] = is_step ? (int)offset : 0;
    places[form.padded_steps + step] = is_step ? (int)at.row : NOWHERE;
    places[2 * form.padded_steps + step] = is_step ? (int)at.column : NOWHERE;
  }
}
