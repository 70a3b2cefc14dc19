// The step of a scenario that computes in slabs, on three queues of the library's own.
#include <cstdint>
#include <span>
#include <vector>

#include "fault/scenario_steps.h"

namespace tessera::fault {

/// A training set in slabs: of each three rows one is at 0 with target 1, the others are far away with target 9.
bool stream_slabs(ScenarioBench& bench) {
  constexpr std::int64_t kRows = 3 * KernelRegression::kSlabRows + 3;
  static const auto* const training = new std::vector<std::uint8_t>([] {
    std::vector<std::uint8_t> rows(kRows, 200);
    for (std::size_t row = 0; row < rows.size(); row += 3) rows[row] = 0;
    return rows;
  }());
  static const auto* const targets = new std::vector<float>([] {
    std::vector<float> numbers(kRows, 9.0F);
    for (std::size_t row = 0; row < numbers.size(); row += 3) numbers[row] = 1.0F;
    return numbers;
  }());
  static const auto* const queries = new std::vector<std::uint8_t>{0, 1};
  const KernelRegression problem{.training_rows = kRows, .columns = 1, .queries = 2, .type = DataType::uint8};
  const std::span<float> values = borrowed_memory(2);
  const StreamReport report = stream(
      *bench.device, problem, {.queries = *queries, .training = *training, .targets = *targets, .values = values},
      {.memory_bytes = bench.options.stream_bytes});
  const bool is_right = values[0] == 1 && values[1] == 1;  // whatever is far away weighs 0
  return report.slabs.size() > 1 && (is_right || !bench.options.kernels_compute);
}

}  // namespace tessera::fault
