// Convolves an int32 image with one variant on one thread, a number of times: the process whose data reads
// data_reads_test.cpp counts.
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

void convolve(std::string_view variant, std::int64_t side, std::int64_t filter_side, std::int64_t runs) {
  using namespace tessera;
  const Device device = open("cpu:0?threads=1");
  Conv2d problem{.height = side,
                 .width = side,
                 .filter_height = filter_side,
                 .filter_width = filter_side,
                 .filter = {},
                 .type = DataType::int32};
  for (std::int64_t i = 0; i < filter_side * filter_side; ++i)
    problem.filter.push_back(static_cast<double>(i % 11 - 5));
  std::vector<std::int32_t> pixels(static_cast<std::size_t>(side * side));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::int32_t>(i * 2654435761U);
  const auto kernel = device.kernel(problem, {.variant = std::string(variant)});
  const auto image = device.upload<std::int32_t>(pixels);
  const auto output = device.allocate<std::int32_t>(pixels.size());
  Queue queue(device);
  for (std::int64_t run = 0; run < runs; ++run) queue.run(kernel, {.image = image, .output = output});
  std::uint32_t sum = 0;
  for (const std::int32_t pixel : queue.download(output).get()) sum = sum * 31 + static_cast<std::uint32_t>(pixel);
  std::printf("result %u with %s\n", sum, device.info().instruction_set.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 5) throw std::invalid_argument("usage: tessera_data_reads_probe VARIANT SIDE FILTER_SIDE RUNS");
    convolve(argv[1], number(argv[2]), number(argv[3]), number(argv[4]));
    return 0;
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
