// How kernel regression is used: on images, on tables, a query at a time or all at once.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

struct Sizes {
  std::int64_t rows, columns, queries;
};
void set_sizes(Draw& draw, const Sizes& sizes) {
  draw.set("training_rows", sizes.rows);
  draw.set("columns", sizes.columns);
  draw.set("queries", sizes.queries);
}

/// Columns of images: digits, small colour pictures, patches.
void images(Draw& draw) {
  set_sizes(draw, {draw.size(500, 60000), draw.one_of<std::int64_t>({64, 256, 784, 1024, 3072}), draw.size(10, 1000)});
  const bool is_bytes = draw.chance(1, 3);
  draw.set("type", is_bytes ? "uint8" : "float32");
  draw.set("scale", "0.5");
}

void few_queries(Draw& draw) {
  set_sizes(draw, {draw.size(500, 60000), draw.size(8, 1024), draw.between(1, 16)});
}

/// Tables of few numbers a row.
void narrow(Draw& draw) {
  set_sizes(draw, {draw.size(100, 30000), draw.between(1, 16), draw.size(10, 3000)});
}

void odd(Draw& draw) {
  set_sizes(draw, {draw.no_multiple_of_four(64, 8000), draw.no_multiple_of_four(16, 512),
                   draw.no_multiple_of_four(16, 1000)});
}

void doubles(Draw& draw) {
  set_sizes(draw, {draw.size(100, 20000), draw.size(8, 1024), draw.size(10, 1000)});
  draw.set("type", "float64");
}

void outputs(Draw& draw) {
  set_sizes(draw, {draw.size(100, 20000), draw.size(8, 512), draw.size(10, 1000)});
  draw.set("outputs", draw.between(2, 16));
}

/// What a classifier asks for beside the values.
void classes(Draw& draw) {
  set_sizes(draw, {draw.size(100, 20000), draw.size(8, 784), draw.size(10, 1000)});
  draw.set("classes", draw.between(2, 20));
  if (draw.chance(1, 2)) draw.set("nearest", "1");
}

}  // namespace

std::vector<ProblemClass> kernel_regression_classes() {
  return {{"images", "rows of 64 to 3072 pixels, as floats or bytes", images},
          {"few_queries", "1 to 16 queries", few_queries},
          {"narrow", "1 to 16 columns", narrow},
          {"odd", "no size a multiple of four", odd},
          {"doubles", "float64", doubles},
          {"outputs", "2 to 16 targets of each row", outputs},
          {"classes", "votes for 2 to 20 classes, half of them with the nearest row", classes}};
}

}  // namespace tessera::tool
