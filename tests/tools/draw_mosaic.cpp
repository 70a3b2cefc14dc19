// Writes the picture of docs/convolve.md: draw_mosaic docs/pictures/mosaic.png
#include <cstdio>
#include <exception>
#include <span>

#include "mosaic.h"
#include "tools/images/png_writer.h"

int main(int argc, char** argv) try {
  using namespace tessera::testing_support;
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_mosaic FILE.png\n");
    return 2;
  }
  const auto pixels = draw_mosaic();
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
