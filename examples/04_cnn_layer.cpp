// A layer of a convolutional network whose weights are prepared once and used for many images: on the device named by
// the first argument, or on the best one present. The filters are so simple that every output is known beforehand.
#include <tessera/tessera.h>

#include <cmath>
#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  const std::int64_t size = 32, images = 3;
  const tessera::CnnLayer problem{.input_channels = 1,
                                  .output_channels = 2,
                                  .height = size,
                                  .width = size,
                                  .filter_height = 3,
                                  .filter_width = 3,
                                  .padding = 1,
                                  .pool_size = 2};
  const std::vector<float> host_weights{0, 0, 0, 0, 1,  0, 0, 0, 0,   // channel 0: the pixel itself
                                        0, 0, 0, 1, -1, 0, 0, 0, 0};  // channel 1: its left neighbour less the pixel
  const std::vector<float> host_bias{0, 1.5F};

  tessera::Device device = tessera::open(argc > 1 ? argv[1] : "");
  tessera::Queue queue(device);
  auto layer = device.kernel(problem);
  auto weights = device.upload<float>(host_weights), bias = device.upload<float>(host_bias);
  auto prepared = queue.prepare_weights(layer, weights);  // in the form that this variant computes with
  auto input = device.allocate<float>(size * size);
  const std::int64_t pooled = problem.output_height();
  auto output = device.allocate<float>(2 * pooled * pooled);

  bool right = true;
  for (std::int64_t image = 0; image < images; ++image) {
    std::vector<float> host_input(size * size), host_output(2 * pooled * pooled);
    for (std::int64_t i = 0; i < size * size; ++i) host_input[i] = static_cast<float>(image + i / size + i % size);
    queue.upload(input, host_input);
    queue.run(layer, {.input = input, .weights = prepared, .bias = bias, .output = output});
    queue.download(output, host_output);
    queue.finish();
    for (std::int64_t i = 0; i < pooled * pooled; ++i) {
      const std::int64_t y = i / pooled, x = i % pooled;
      // The largest of four pixels is the one on the lower right. The difference is -1 but at the left edge, where the
      // padding counts as 0 and the result is so negative that the pixel beside it wins.
      const auto identity = static_cast<float>(image + 2 * y + 1 + 2 * x + 1);
      const float difference = image + y + x == 0 ? 1.5F : 0.5F;
      // Not ==: unless it is asked to be strict, a layer may be computed in another order with other roundings.
      right = right && std::fabs(host_output[i] - identity) < 1e-4F &&
              std::fabs(host_output[pooled * pooled + i] - difference) < 1e-4F;
    }
  }
  std::cout << device.id() << " (" << layer.info().variant << ", " << prepared.size_bytes()
            << " bytes of weights): " << (right ? "right" : "wrong") << '\n';
  return right ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
