// Which layers networks have.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

struct KnownLayer {
  std::int64_t inputs, outputs, side, filter, stride, padding, pool;
};
/// Of VGG-16, ResNet-18 and 50, AlexNet, YOLO, U-Net and SqueezeNet.
constexpr KnownLayer kLayers[] = {
    {3, 64, 224, 3, 1, 1, 1},   {64, 64, 224, 3, 1, 1, 2},  {64, 128, 112, 3, 1, 1, 1},  {128, 128, 112, 3, 1, 1, 2},
    {128, 256, 56, 3, 1, 1, 1}, {256, 256, 56, 3, 1, 1, 2}, {256, 512, 28, 3, 1, 1, 1},  {512, 512, 28, 3, 1, 1, 2},
    {512, 512, 14, 3, 1, 1, 2}, {3, 64, 224, 7, 2, 3, 1},   {64, 64, 56, 3, 1, 1, 1},    {64, 128, 56, 3, 2, 1, 1},
    {128, 128, 28, 3, 1, 1, 1}, {256, 256, 14, 3, 1, 1, 1}, {512, 512, 7, 3, 1, 1, 1},   {64, 256, 56, 1, 1, 0, 1},
    {256, 64, 56, 1, 1, 0, 1},  {256, 512, 28, 1, 1, 0, 1}, {1024, 256, 14, 1, 1, 0, 1}, {512, 2048, 7, 1, 1, 0, 1},
    {3, 96, 227, 11, 4, 0, 1},  {96, 256, 27, 5, 1, 2, 1},  {256, 384, 13, 3, 1, 1, 1},  {384, 256, 13, 3, 1, 1, 1},
    {3, 32, 416, 3, 1, 1, 2},   {32, 64, 208, 3, 2, 1, 1},  {64, 32, 104, 1, 1, 0, 1},   {32, 64, 104, 3, 1, 1, 2},
    {1, 64, 256, 3, 1, 1, 1},   {64, 64, 256, 3, 1, 1, 2},  {16, 64, 55, 3, 1, 1, 1},    {64, 16, 55, 1, 1, 0, 1},
};

struct Image {
  std::int64_t height, width;
};
void set(Draw& draw, const KnownLayer& layer, const Image& image) {
  draw.set("input_channels", layer.inputs);
  draw.set("output_channels", layer.outputs);
  draw.set("height", image.height);
  draw.set("width", image.width);
  draw.set("filter_height", layer.filter);
  draw.set("filter_width", layer.filter);
  if (layer.stride != 1) draw.set("stride", layer.stride);
  if (layer.padding != 0) draw.set("padding", layer.padding);
  if (layer.pool != 1) draw.set("pool_size", layer.pool);
}
/// A filter that keeps the image's size; some have a pool behind it.
struct Filters {
  std::int64_t inputs, outputs, side;
};
KnownLayer keeping_size(Draw& draw, const Filters& filters) {
  return {.inputs = filters.inputs,
          .outputs = filters.outputs,
          .side = 0,
          .filter = filters.side,
          .stride = 1,
          .padding = filters.side / 2,
          .pool = draw.chance(1, 4) ? 2 : 1};
}

void layers(Draw& draw) {
  const KnownLayer& layer = draw.one_of(kLayers);
  set(draw, layer, {layer.side, layer.side});
}

void batch(Draw& draw) {
  const KnownLayer& layer = draw.one_of(kLayers);
  draw.set("batch", draw.size(2, 64));
  set(draw, layer, {layer.side, layer.side});
}

void pointwise(Draw& draw) {
  const std::int64_t side = draw.size(7, 224);
  if (draw.chance(1, 2)) draw.set("batch", draw.size(2, 32));
  set(draw, {draw.size(8, 1024), draw.size(8, 1024), 0, 1, 1, 0, 1}, {side, side});
}

void few_outputs(Draw& draw) {
  const KnownLayer layer =
      keeping_size(draw, {draw.size(8, 256), draw.between(1, 16), draw.one_of<std::int64_t>({1, 3, 5, 7, 9})});
  set(draw, layer, {draw.size(32, 512), draw.size(32, 512)});
}

void few_inputs(Draw& draw) {
  const KnownLayer layer =
      keeping_size(draw, {draw.between(1, 4), draw.size(8, 128), draw.one_of<std::int64_t>({3, 5, 7, 9, 11})});
  set(draw, layer, {draw.size(32, 512), draw.size(32, 512)});
}

void odd(Draw& draw) {
  const KnownLayer layer = keeping_size(draw, {draw.no_multiple_of_four(4, 256), draw.no_multiple_of_four(4, 256),
                                               draw.one_of<std::int64_t>({2, 3, 4, 5})});
  set(draw, layer, {draw.no_multiple_of_four(8, 256), draw.no_multiple_of_four(8, 256)});
}

void strided(Draw& draw) {
  KnownLayer layer =
      keeping_size(draw, {draw.size(3, 256), draw.size(8, 256), draw.one_of<std::int64_t>({1, 3, 5, 7})});
  layer.stride = draw.between(2, 4);
  layer.pool = 1;
  set(draw, layer, {draw.size(16, 256), draw.size(16, 256)});
}

void channels_last(Draw& draw) {
  const KnownLayer& layer = draw.one_of(kLayers);
  if (draw.chance(1, 2)) draw.set("batch", draw.size(2, 16));
  set(draw, layer, {layer.side, layer.side});
  draw.set("layout", "nhwc");
  if (draw.chance(1, 2)) draw.set("prepared", "1");
}

void large_filters(Draw& draw) {
  const KnownLayer layer =
      keeping_size(draw, {draw.size(8, 256), draw.size(8, 256), draw.one_of<std::int64_t>({5, 7, 9, 11})});
  const std::int64_t side = draw.size(16, 256);
  set(draw, layer, {side, side});
}

}  // namespace

std::vector<ProblemClass> cnn_layer_classes() {
  return {{"layers", "layers of well-known networks, one image", layers},
          {"batch", "the same with 2 to 64 images", batch},
          {"pointwise", "filters of 1 x 1, half of them with several images", pointwise},
          {"few_outputs", "1 to 16 output channels, filters of 1 to 9", few_outputs},
          {"few_inputs", "1 to 4 input channels, filters of 3 to 11", few_inputs},
          {"odd", "channels and sizes that are no multiples of four", odd},
          {"strided", "every second to fourth place of the filter", strided},
          {"channels_last", "layout nhwc, half of them with prepared weights", channels_last},
          {"large_filters", "filters of 5 to 11 between many channels", large_filters}};
}

}  // namespace tessera::tool
