// What is denoised by non-local means.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

void set_noise(Draw& draw) {
  draw.set("sigma", draw.between(5, 50));
}

void images(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 1024), draw.size(32, 1024), 1});
  set_noise(draw);
}

void volumes(Draw& draw) {
  draw.set_axes("size", {draw.size(16, 128), draw.size(16, 128), draw.size(8, 64)});
  set_noise(draw);
}

void colours(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 512), draw.size(32, 512), 1});
  draw.set("channels", 3);
  set_noise(draw);
}

void bytes(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 512), draw.size(32, 512), 1});
  set_noise(draw);
  draw.set("type", draw.chance(1, 2) ? "uint8" : "uint16");
}

void windows(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 512), draw.size(32, 512), 1});
  set_noise(draw);
  const std::int64_t patch = draw.between(0, 4) * 2 + 1, window = draw.between(2, 17) * 2 + 1;
  draw.set_axes("patch", {patch, patch, 1});
  draw.set_axes("window", {window, window, 1});
}

void odd(Draw& draw) {
  draw.set_axes("size", {draw.no_multiple_of_four(16, 200), draw.no_multiple_of_four(16, 200),
                         draw.chance(1, 2) ? 1 : draw.between(2, 23)});
  set_noise(draw);
}

}  // namespace

std::vector<ProblemClass> nonlocal_means_classes() {
  return {{"images", "grey images of 32 to 1024 each way", images},
          {"volumes", "volumes of 16 to 128 voxels each way", volumes},
          {"colours", "images of three channels", colours},
          {"bytes", "images of uint8 and uint16", bytes},
          {"windows", "odd patches of 1 to 9 and windows of 5 to 35", windows},
          {"odd", "sizes that are no multiples of four, images and volumes", odd}};
}

}  // namespace tessera::tool
