// Convolves an int32 image with one variant on one thread, a number of times: the process whose data reads
// data_reads_test.cpp counts. Two versions more are loops of its own, for scripts/count_misses.py: what the published
// study seems to have counted, with an output that a pass before has filled with zeros.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/tessera.h>

namespace {

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) throw std::invalid_argument("not a number");
  return value;
}

std::vector<double> filter_of(std::int64_t side) {
  std::vector<double> filter;
  for (std::int64_t i = 0; i < side * side; ++i) filter.push_back(static_cast<double>(i % 11 - 5));
  return filter;
}

std::vector<std::int32_t> image_of(std::int64_t side) {
  std::vector<std::int32_t> pixels(static_cast<std::size_t>(side * side));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::int32_t>(i * 2654435761U);
  return pixels;
}

void print_result(const std::vector<std::int32_t>& output, std::string_view instruction_set) {
  std::uint32_t sum = 0;
  for (const std::int32_t pixel : output) sum = sum * 31 + static_cast<std::uint32_t>(pixel);
  std::printf("result %u with %.*s\n", sum, static_cast<int>(instruction_set.size()), instruction_set.data());
}

/// Calls add(weight * pixel) for each weight whose pixel lies in the image.
template <class Add>
void for_each_product(const std::vector<std::uint32_t>& pixels, std::int64_t side,
                      const std::vector<std::uint32_t>& weights, std::int64_t filter_side, std::int64_t y,
                      std::int64_t x, Add add) {
  const std::int64_t reach = filter_side / 2;
  for (std::int64_t i = 0; i < filter_side; ++i) {
    for (std::int64_t j = 0; j < filter_side; ++j) {
      const std::int64_t row = y + i - reach;
      const std::int64_t column = x + j - reach;
      if (row < 0 || row >= side || column < 0 || column >= side) continue;
      add(weights[static_cast<std::size_t>(i * filter_side + j)] *
          pixels[static_cast<std::size_t>(row * side + column)]);
    }
  }
}

/// Fills the output with zeros, then adds every product to it in memory, or stores each pixel's sum.
void convolve_filled(bool in_memory, std::int64_t side, std::int64_t filter_side, std::int64_t runs) {
  std::vector<std::uint32_t> weights;  // unsigned, so that sums wrap
  for (const double weight : filter_of(filter_side))
    weights.push_back(static_cast<std::uint32_t>(static_cast<std::int32_t>(weight)));
  const std::vector<std::int32_t> image = image_of(side);
  const std::vector<std::uint32_t> pixels(image.begin(), image.end());
  std::vector<std::uint32_t> output(pixels.size());
  for (std::int64_t run = 0; run < runs; ++run) {
    std::fill(output.begin(), output.end(), 0);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        volatile std::uint32_t& place = output[static_cast<std::size_t>(y * side + x)];
        std::uint32_t sum = 0;
        for_each_product(pixels, side, weights, filter_side, y, x, [&](std::uint32_t product) {
          if (in_memory) {
            place = place + product;
          } else {
            sum += product;
          }
        });
        if (!in_memory) place = sum;
      }
    }
  }
  print_result({output.begin(), output.end()}, "loops of the probe");
}

void convolve(std::string_view variant, std::int64_t side, std::int64_t filter_side, std::int64_t runs) {
  using namespace tessera;
  const Device device = open("cpu:0?threads=1");
  const Conv2d problem{.height = side,
                       .width = side,
                       .filter_height = filter_side,
                       .filter_width = filter_side,
                       .filter = filter_of(filter_side),
                       .type = DataType::int32};
  const std::vector<std::int32_t> pixels = image_of(side);
  const auto kernel = device.kernel(problem, {.variant = std::string(variant)});
  const auto image = device.upload<std::int32_t>(pixels);
  const auto output = device.allocate<std::int32_t>(pixels.size());
  Queue queue(device);
  for (std::int64_t run = 0; run < runs; ++run) queue.run(kernel, {.image = image, .output = output});
  print_result(queue.download(output).get(), device.info().instruction_set);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5) throw std::invalid_argument("usage: tessera_data_reads_probe VARIANT SIDE FILTER_SIDE RUNS");
    const std::string_view variant = argv[1];
    if (variant.starts_with("filled_")) {
      convolve_filled(variant == "filled_accumulate", number(argv[2]), number(argv[3]), number(argv[4]));
    } else {
      convolve(variant, number(argv[2]), number(argv[3]), number(argv[4]));
    }
    return 0;
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
