// How images are convolved.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

struct Extent {
  std::int64_t height, width;
};
void set_image(Draw& draw, const Extent& size) {
  draw.set("height", size.height);
  draw.set("width", size.width);
}
void set_filter(Draw& draw, const Extent& size) {
  draw.set("filter_height", size.height);
  draw.set("filter_width", size.width);
}
void set_square_filter(Draw& draw, std::int64_t least, std::int64_t most) {
  const std::int64_t side = draw.between(least / 2, most / 2) * 2 + 1;
  set_filter(draw, {side, side});
}

/// What cameras, screens and scanners give.
constexpr Extent kPhotos[] = {{480, 640},   {576, 720},   {600, 800},   {768, 1024},  {720, 1280},  {1024, 1280},
                              {1080, 1920}, {1200, 1600}, {1440, 2560}, {1536, 2048}, {2160, 3840}, {2048, 2048},
                              {3000, 4000}, {512, 512},   {1024, 1024}, {4096, 4096}};

void photos(Draw& draw) {
  const Extent& size = draw.one_of(kPhotos);
  const bool is_upright = draw.chance(1, 4);
  set_image(draw, {is_upright ? size.width : size.height, is_upright ? size.height : size.width});
  set_square_filter(draw, 3, 9);
}

void small(Draw& draw) {
  set_image(draw, {draw.size(8, 256), draw.size(8, 256)});
  set_square_filter(draw, 1, 7);
}

void odd(Draw& draw) {
  set_image(draw, {draw.no_multiple_of_four(64, 2400), draw.no_multiple_of_four(64, 2400)});
  set_filter(draw, {draw.between(1, 9), draw.between(1, 9)});
  if (draw.chance(1, 2)) draw.set("border", "valid");
}

void large_filters(Draw& draw) {
  set_image(draw, {draw.size(128, 2048), draw.size(128, 2048)});
  set_square_filter(draw, 9, 25);
}

void separable(Draw& draw) {
  set_image(draw, {draw.size(64, 4096), draw.size(64, 4096)});
  set_square_filter(draw, 3, 25);
  draw.set("filter", "rank1");
}

void strips(Draw& draw) {
  set_image(draw, {draw.size(64, 4096), draw.size(64, 4096)});
  const std::int64_t length = draw.between(2, 31);
  const bool is_row = draw.chance(1, 2);
  set_filter(draw, {is_row ? 1 : length, is_row ? length : 1});
}

void batch(Draw& draw) {
  set_image(draw, {draw.size(16, 512), draw.size(16, 512)});
  set_square_filter(draw, 3, 9);
  draw.set("batch", draw.size(2, 128));
}

void integers(Draw& draw) {
  set_image(draw, {draw.size(64, 4096), draw.size(64, 4096)});
  set_square_filter(draw, 3, 9);
  draw.set("type", draw.one_of({"uint8", "int16", "int32"}));
}

void borders(Draw& draw) {
  set_image(draw, {draw.size(64, 2048), draw.size(64, 2048)});
  const std::int64_t height = draw.between(2, 8), width = draw.between(2, 8);
  set_filter(draw, {height, width});
  if (draw.chance(1, 2)) {
    draw.set("border", "valid");
  } else {
    draw.set("anchor_y", draw.between(0, height - 1));
    draw.set("anchor_x", draw.between(0, width - 1));
  }
  if (draw.chance(1, 2)) draw.set("flip", "1");
}

}  // namespace

std::vector<ProblemClass> conv2d_classes() {
  return {{"photos", "images of common sizes, odd square filters of 3 to 9", photos},
          {"small", "images of 8 to 256 each way, filters of 1 to 7", small},
          {"odd", "sizes that are no multiples of four, filters of 1 to 9 each way, borders of both kinds", odd},
          {"large_filters", "odd square filters of 9 to 25", large_filters},
          {"separable", "odd square filters of 3 to 25 that are a column times a row", separable},
          {"strips", "filters of one row or one column, 2 to 31 long", strips},
          {"batch", "2 to 128 images of up to 512 each way", batch},
          {"integers", "images of uint8, int16 and int32", integers},
          {"borders", "border valid, or anchors anywhere, half of them flipped", borders}};
}

}  // namespace tessera::tool
