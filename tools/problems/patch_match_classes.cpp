// In which images and volumes patches are matched.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

void set_type(Draw& draw) {
  draw.set("type", draw.one_of({"uint8", "uint16", "float32"}));
}
struct Grid {
  std::int64_t patch, window, step;
};
void set_cubes(Draw& draw, const Grid& grid) {
  const auto& [patch, window, step] = grid;
  draw.set_axes("patch", {patch, patch, patch});
  draw.set_axes("window", {window, window, window});
  draw.set_axes("step", {step, step, step});
}
void set_squares(Draw& draw, const Grid& grid) {
  const auto& [patch, window, step] = grid;
  draw.set_axes("patch", {patch, patch, 1});
  draw.set_axes("window", {window, window, 1});
  draw.set_axes("step", {step, step, 1});
}

void images(Draw& draw) {
  draw.set_axes("size", {draw.size(64, 1024), draw.size(64, 1024), 1});
  set_squares(draw, {draw.one_of<std::int64_t>({4, 6, 8, 12}), draw.one_of<std::int64_t>({11, 19, 25, 39}),
                     draw.between(1, 6)});
  draw.set("max_patches", draw.one_of<std::int64_t>({8, 16, 32}));
  set_type(draw);
}

void volumes(Draw& draw) {
  draw.set_axes("size", {draw.size(24, 256), draw.size(24, 256), draw.size(16, 128)});
  set_cubes(draw, {draw.between(2, 5), draw.one_of<std::int64_t>({5, 7, 9, 11}), draw.between(2, 4)});
  set_type(draw);
}

void dense(Draw& draw) {
  draw.set_axes("size", {draw.size(24, 256), draw.size(24, 256), draw.size(8, 64)});
  set_cubes(draw, {draw.between(2, 4), draw.one_of<std::int64_t>({5, 7}), 1});
  set_type(draw);
}

void odd(Draw& draw) {
  draw.set_axes("size", {draw.no_multiple_of_four(32, 160), draw.no_multiple_of_four(32, 160), draw.between(9, 41)});
  draw.set_axes("patch", {draw.between(1, 7), draw.between(1, 7), draw.between(1, 4)});
  draw.set_axes("window", {draw.between(2, 14), draw.between(2, 14), draw.between(2, 8)});
  draw.set_axes("step", {draw.between(1, 4), draw.between(1, 4), draw.between(1, 4)});
  set_type(draw);
}

void many_kept(Draw& draw) {
  draw.set_axes("size", {draw.size(48, 512), draw.size(48, 512), 1});
  set_squares(draw, {8, draw.one_of<std::int64_t>({19, 25, 39}), draw.between(3, 5)});
  draw.set("max_patches", draw.between(33, 64));
  set_type(draw);
}

}  // namespace

std::vector<ProblemClass> patch_match_classes() {
  return {{"images", "images, patches of 4 to 12 pixels each way", images},
          {"volumes", "volumes, patches of 2 to 5 voxels, every second to fourth voxel", volumes},
          {"dense", "volumes, a stack for every voxel", dense},
          {"odd", "sizes, patches, windows and steps that differ from axis to axis", odd},
          {"many_kept", "images, 33 to 64 patches in a stack", many_kept}};
}

}  // namespace tessera::tool
