// A training set that passes through the device's memory in slabs, on the device named by the first argument or on the
// best one present: kernel regression of 60,000 points with 2 MiB of memory, and the same with as much as there is.
#include <tessera/tessera.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  const std::int64_t rows = 60000, columns = 16, queries = 50;
  std::vector<float> training, labels, points;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float angle = 6.2831853F * static_cast<float>(row) / static_cast<float>(rows);
    for (std::int64_t j = 0; j < columns; ++j) {
      const float turn = angle * static_cast<float>(j / 2 + 1);
      training.push_back(j % 2 == 0 ? std::sin(turn) : std::cos(turn));
    }
    labels.push_back(std::cos(angle));
  }
  for (std::int64_t q = 0; q < queries; ++q) {
    const auto* const row = training.data() + (q * rows / queries) * columns;
    points.insert(points.end(), row, row + columns);
  }

  tessera::Device device = tessera::open(argc > 1 ? argv[1] : "");
  const tessera::KernelRegression problem{.training_rows = rows, .columns = columns, .queries = queries, .order = 30};
  // One that goes on from a slab to the next; without a name it would be the best for the problem in one piece.
  tessera::KernelRegression slab = problem;
  slab.is_slab = true;
  std::string variant;
  for (const tessera::VariantReport& report : tessera::explain(slab, device)) {
    if (report.is_default) variant = report.variant;
  }
  if (variant.empty()) {
    std::cout << device.id() << " has no variant that goes on from slab to slab\n";
    return 0;
  }

  std::vector<float> values(queries), whole(queries);
  const auto tell = [](const tessera::StreamProgress& p) { std::cout << p.done << " of " << p.slabs << " slabs\n"; };
  const tessera::StreamReport report =
      tessera::stream(device, problem, {.queries = points, .training = training, .targets = labels, .values = values},
                      {.kernel = {.variant = variant}, .memory_bytes = 2 << 20, .progress = tell});
  const tessera::StreamReport at_once =
      tessera::stream(device, problem, {.queries = points, .training = training, .targets = labels, .values = whole},
                      {.kernel = {.variant = variant}});

  const bool same = std::memcmp(values.data(), whole.data(), values.size() * sizeof(float)) == 0;
  const bool right = same && report.slabs.size() > 1 && std::fabs(values[0] - 1.0F) < 0.01F;
  std::cout << device.id() << " (" << variant << "): " << report.slabs.size() << " slabs through "
            << report.memory_bytes << " bytes, " << at_once.slabs.size() << " through " << at_once.memory_bytes
            << "; the bits are " << (same ? "the same" : "others") << '\n';
  return right ? 0 : 1;
} catch (const tessera::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
