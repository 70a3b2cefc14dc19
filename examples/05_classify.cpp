// Classifies points by kernel regression: a training set that is prepared once, on the device named by the first
// argument or on the best one present. Two clouds of bytes around (60, 60) and (180, 180) have the labels 0 and 1.
#include <tessera/tessera.h>

#include <cmath>
#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  const std::int64_t side = 8, rows = 2 * side * side, queries = 4;
  std::vector<std::uint8_t> host_training;
  std::vector<float> host_labels;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t cloud = i / (side * side), cell = i % (side * side);
    host_training.push_back(static_cast<std::uint8_t>(46 + 120 * cloud + 4 * (cell % side)));
    host_training.push_back(static_cast<std::uint8_t>(46 + 120 * cloud + 4 * (cell / side)));
    host_labels.push_back(static_cast<float>(cloud));
  }
  // In the first cloud, in the second, between the two, and somewhat nearer to the second.
  const std::vector<std::uint8_t> host_queries{61, 58, 183, 176, 120, 120, 128, 128};

  tessera::Device device = tessera::open(argc > 1 ? argv[1] : "");
  tessera::Queue queue(device);
  auto regression = device.kernel(tessera::KernelRegression{.training_rows = rows,
                                                            .columns = 2,
                                                            .queries = queries,
                                                            .order = 10,
                                                            .scale = 1.0 / 255,  // white is 1
                                                            .classes = 2,
                                                            .nearest = true,
                                                            .type = tessera::DataType::uint8});
  auto training = device.upload<std::uint8_t>(host_training), points = device.upload<std::uint8_t>(host_queries);
  auto labels = device.upload<float>(host_labels);
  auto prepared = queue.prepare_weights(regression, training);  // in the form that this variant computes with
  auto values = device.allocate<float>(queries), votes = device.allocate<float>(2 * queries);
  auto nearest_row = device.allocate<std::int64_t>(queries), nearest_squared = device.allocate<std::int64_t>(queries);
  queue.run(regression, {.queries = points,
                         .training = prepared,
                         .targets = labels,
                         .values = values,
                         .votes = votes,
                         .nearest_row = nearest_row,
                         .nearest_squared = nearest_squared});
  const std::vector<float> value = queue.download(values).get(), vote = queue.download(votes).get();
  const std::vector<std::int64_t> nearest = queue.download(nearest_row).get();

  // The third point lies in the middle: half of the weight votes for each label.
  bool right = value[0] < 0.001F && value[1] > 0.999F && std::fabs(value[2] - 0.5F) < 0.001F && value[3] > 0.5F;
  for (std::int64_t i = 0; i < queries; ++i) {
    const float share = vote[2 * i + 1] / (vote[2 * i] + vote[2 * i + 1]);
    right = right && std::fabs(share - value[i]) < 0.001F;  // with labels 0 and 1 the value is the share of label 1
    std::cout << "point " << i << ": value " << value[i] << ", nearest row " << nearest[i] << '\n';
  }
  std::cout << device.id() << " (" << regression.info().variant << "): " << (right ? "right" : "wrong") << '\n';
  return right ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
