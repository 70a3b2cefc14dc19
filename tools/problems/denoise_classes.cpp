// What is denoised by collaborative filtering.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

void set_noise(Draw& draw) {
  draw.set("sigma", draw.between(5, 50));
  draw.set("range", 255);
}

void images(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 512), draw.size(32, 512), 1});
  set_noise(draw);
}

void volumes(Draw& draw) {
  draw.set_axes("size", {draw.size(16, 96), draw.size(16, 96), draw.size(8, 64)});
  set_noise(draw);
}

void colours(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 256), draw.size(32, 256), 1});
  draw.set("channels", 3);
  set_noise(draw);
}

void bytes(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 256), draw.size(32, 256), 1});
  draw.set("sigma", draw.between(5, 50));
  draw.set("type", draw.chance(1, 2) ? "uint8" : "uint16");
}

void stages(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 256), draw.size(32, 256), 1});
  draw.set("stage", draw.chance(1, 2) ? "hard_threshold" : "wiener");
  set_noise(draw);
}

void profiles(Draw& draw) {
  draw.set_axes("size", {draw.size(32, 256), draw.size(32, 256), 1});
  draw.set("profile", draw.one_of({"fast", "high"}));
  set_noise(draw);
}

}  // namespace

std::vector<ProblemClass> denoise_classes() {
  return {{"images", "grey images of 32 to 512 each way", images},
          {"volumes", "volumes of 16 to 96 voxels each way", volumes},
          {"colours", "images of three channels", colours},
          {"bytes", "images of uint8 and uint16", bytes},
          {"stages", "one stage alone", stages},
          {"profiles", "profiles fast and high", profiles}};
}

}  // namespace tessera::tool
