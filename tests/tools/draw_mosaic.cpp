// Writes the picture of docs/convolve.md, draw_mosaic docs/pictures/mosaic.png, or with noise that of docs/denoise.md,
// draw_mosaic docs/pictures/mosaic_noisy.png 25
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "mosaic.h"
#include "tools/images/png_writer.h"

int main(int argc, char** argv) try {
  using namespace tessera::testing_support;
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: draw_mosaic FILE.png [DEVIATION]\n");
    return 2;
  }
  const auto pixels = argc == 2 ? draw_mosaic() : draw_noisy_mosaic(std::stoll(argv[2]));
  tessera::tool::PngWriter writer(argv[1], {kMosaicWidth, kMosaicHeight, 3, 1});
  const std::size_t row_bytes = static_cast<std::size_t>(kMosaicWidth) * 3;
  for (std::size_t at = 0; at < pixels.size(); at += row_bytes)
    writer.write_row(std::span(pixels).subspan(at, row_bytes));
  writer.finish();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "draw_mosaic: %s\n", error.what());
  return 1;
}
