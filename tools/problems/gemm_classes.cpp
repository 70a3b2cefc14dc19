// How matrix products are used.
#include "tools/problems/random_problems.h"

namespace tessera::tool {

namespace {

struct Sizes {
  std::int64_t m, n, k;
};
void set_sizes(Draw& draw, const Sizes& sizes) {
  draw.set("m", sizes.m);
  draw.set("n", sizes.n);
  draw.set("k", sizes.k);
}

/// One in five is float64.
void set_type(Draw& draw) {
  draw.set("type", draw.chance(1, 5) ? "float64" : "float32");
}

void vectors(Draw& draw) {
  const std::int64_t few = draw.chance(1, 2) ? 1 : draw.between(2, 16);
  const std::int64_t many = draw.size(64, 8192), k = draw.size(64, 8192);
  if (draw.chance(1, 2)) {
    set_sizes(draw, {few, many, k});
  } else {
    set_sizes(draw, {many, few, k});
  }
  set_type(draw);
  if (draw.chance(1, 2)) draw.set("transpose_b", "1");
}

void transposed(Draw& draw) {
  set_sizes(draw, {draw.size(64, 2048), draw.size(64, 2048), draw.size(64, 2048)});
  set_type(draw);
  const std::int64_t which = draw.between(1, 3);
  if ((which & 1) != 0) draw.set("transpose_a", "1");
  if ((which & 2) != 0) draw.set("transpose_b", "1");
}

void odd(Draw& draw) {
  const std::int64_t m = draw.no_multiple_of_four(32, 2400), n = draw.no_multiple_of_four(32, 2400),
                     k = draw.no_multiple_of_four(32, 2400);
  set_sizes(draw, {m, n, k});
  set_type(draw);
  if (draw.chance(1, 2)) return;
  draw.set("lda", (k / 4 + 1) * 4 + draw.between(1, 3));
  draw.set("ldb", (n / 4 + 1) * 4 + draw.between(1, 3));
}

void batch(Draw& draw) {
  set_sizes(draw, {draw.size(4, 512), draw.size(4, 512), draw.size(4, 512)});
  set_type(draw);
  draw.set("batch", draw.size(2, 512));
  const std::int64_t which = draw.between(0, 3);
  if (which == 1) draw.set("stride_b", "0");
  if (which >= 2) draw.set("transpose_b", "1");
}

struct LinearLayer {
  std::int64_t inputs, outputs;
};
/// Of transformers (BERT, GPT-2, ViT, Llama), of classifiers' heads (VGG, ResNet) and of recommenders.
constexpr LinearLayer kLinearLayers[] = {
    {768, 768},   {768, 2304},   {768, 3072},   {3072, 768},  {1024, 1024}, {1024, 4096}, {4096, 1024}, {1280, 1280},
    {1280, 5120}, {5120, 1280},  {1600, 6400},  {2048, 2048}, {2048, 8192}, {8192, 2048}, {4096, 4096}, {25088, 4096},
    {2048, 1000}, {512, 1000},   {9216, 4096},  {4096, 1000}, {512, 256},   {256, 64},    {64, 1},      {784, 128},
    {128, 10},    {4096, 11008}, {11008, 4096}, {384, 1536},  {192, 768},   {320, 1280},
};

/// Rows are tokens or images; weights lie as frameworks keep them, outputs x inputs, or the other way.
void layers(Draw& draw) {
  const LinearLayer& layer = draw.one_of(kLinearLayers);
  const std::int64_t rows = draw.chance(1, 2) ? std::int64_t{1} << draw.between(0, 9) : draw.size(1, 1024);
  set_sizes(draw, {rows, layer.outputs, layer.inputs});
  if (draw.chance(2, 3)) draw.set("transpose_b", "1");
}

void tiny(Draw& draw) {
  set_sizes(draw, {draw.size(1, 64), draw.size(1, 64), draw.size(1, 64)});
  set_type(draw);
}

void deep(Draw& draw) {
  set_sizes(draw, {draw.size(8, 128), draw.size(8, 128), draw.size(2048, 65536)});
  set_type(draw);
  if (draw.chance(1, 3)) draw.set("transpose_a", "1");
}

void shallow(Draw& draw) {
  set_sizes(draw, {draw.size(256, 4096), draw.size(256, 4096), draw.size(1, 32)});
  set_type(draw);
}

void any(Draw& draw) {
  set_sizes(draw, {draw.size(16, 2048), draw.size(16, 2048), draw.size(16, 2048)});
  set_type(draw);
}

}  // namespace

std::vector<ProblemClass> gemm_classes() {
  return {{"vectors", "1 to 16 rows or columns, the other side and k up to 8192", vectors},
          {"transposed", "A or B or both transposed, 64 to 2048 each way", transposed},
          {"odd", "no size a multiple of four, half of them in rows that are longer", odd},
          {"batch", "2 to 512 small products, some with one B for all", batch},
          {"layers", "linear layers of well-known networks, 1 to 1024 rows", layers},
          {"tiny", "1 to 64 each way", tiny},
          {"deep", "k from 2048, m and n up to 128", deep},
          {"shallow", "k up to 32, m and n from 256", shallow},
          {"any", "16 to 2048 each way", any}};
}

}  // namespace tessera::tool
