// What kernel_regression promises of memory, on every device: its fast variants keep no number for each pair of a query
// and a training row.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class KernelRegressionMemoryTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(KernelRegressionMemoryTest);

std::uint64_t held_bytes(const Device& device) {
  const MemoryStatistics memory = device.memory();
  return memory.in_use_bytes + memory.held_bytes;
}

/// What a run of the variant takes beside its operands.
std::uint64_t run_bytes(const Device& device, const KernelRegression& problem, const std::string& variant) {
  const auto kernel = device.kernel(problem, {.variant = variant});
  const std::size_t columns = static_cast<std::size_t>(problem.columns);
  const auto queries = device.allocate_untyped(problem.type, static_cast<std::size_t>(problem.queries) * columns);
  const auto rows = device.allocate_untyped(problem.type, static_cast<std::size_t>(problem.training_rows) * columns);
  const auto targets = device.allocate<float>(static_cast<std::size_t>(problem.training_rows));
  const auto values = device.allocate<float>(static_cast<std::size_t>(problem.queries));
  Queue queue(device);
  queue.fill(targets, 1.0F);
  if (problem.type == DataType::uint8) {
    queue.fill(BufferView<std::uint8_t>(queries), std::uint8_t{3});
    queue.fill(BufferView<std::uint8_t>(rows), std::uint8_t{4});
  } else {
    queue.fill(BufferView<float>(queries), 3.0F);
    queue.fill(BufferView<float>(rows), 4.0F);
  }
  const auto training = queue.prepare_weights(kernel, rows);
  queue.finish();
  device.trim();
  const std::uint64_t before = held_bytes(device);
  queue.run(kernel, {.queries = queries, .training = training, .targets = targets, .values = values});
  queue.finish();
  EXPECT_EQ(queue.download(values).get().back(), 1.0F);
  return held_bytes(device) - before;
}

TEST_P(KernelRegressionMemoryTest, nothing_has_the_size_of_all_pairs) {
  const Device device = fresh_device();
  // A byte for each pair would be 80 MB; more where many threads run at once, of which each has memory of its own.
  const std::int64_t times = 1 + device.info().compute_units / 16;
  KernelRegression problem{.training_rows = 40000, .columns = 4, .queries = 2000 * times, .order = 1};
  const auto pairs = static_cast<std::uint64_t>(problem.training_rows * problem.queries);
  int measured = 0;
  for (const DataType type : {DataType::uint8, DataType::float32}) {
    problem.type = type;
    for (const VariantReport& report : explain(problem, device)) {
      const bool promises = report.variant.starts_with("fused") || report.variant.starts_with("exact_bytes");
      if (!report.can_run || !promises) continue;
      const std::uint64_t bytes = run_bytes(device, problem, report.variant);
      RecordProperty(report.variant + "_bytes", std::to_string(bytes));
      EXPECT_LT(bytes, pairs) << report.variant;
      EXPECT_GT(bytes, 0U) << report.variant << ": what a query knows of the rows lies somewhere";
      ++measured;
    }
  }
  if (measured == 0) GTEST_SKIP() << GetParam() << " has neither fused nor exact_bytes";
}

}  // namespace
}  // namespace tessera::testing_support
