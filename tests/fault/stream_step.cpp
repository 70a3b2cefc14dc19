// The step of a scenario that computes in slabs, on three queues of the library's own.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fault/scenario_steps.h"

namespace tessera::fault {

namespace {

constexpr std::int64_t kRows = 3 * KernelRegression::kSlabRows + 3;
/// So many that packed rows take as much as these do, however an instruction set or a card wants them packed.
constexpr std::int64_t kColumns = 64;
/// The smallest slab fits in, the whole set does not.
constexpr std::uint64_t kMemoryBytes = 1'300'000;

}  // namespace

/// A training set in slabs: of each three rows one is at 0 with target 1, the others are far away with target 9.
bool stream_slabs(ScenarioBench& bench) {
  static const auto* const training = new std::vector<std::uint8_t>([] {
    std::vector<std::uint8_t> rows(kRows * kColumns, 200);
    for (std::int64_t row = 0; row < kRows; row += 3) std::fill_n(rows.begin() + row * kColumns, kColumns, 0);
    return rows;
  }());
  static const auto* const targets = new std::vector<float>([] {
    std::vector<float> numbers(kRows, 9.0F);
    for (std::size_t row = 0; row < numbers.size(); row += 3) numbers[row] = 1.0F;
    return numbers;
  }());
  static const auto* const queries = new std::vector<std::uint8_t>([] {
    std::vector<std::uint8_t> rows(2 * kColumns, 0);
    rows.back() = 1;
    return rows;
  }());
  const KernelRegression problem{.training_rows = kRows, .columns = kColumns, .queries = 2, .type = DataType::uint8};
  const std::span<float> values = borrowed_memory(2);
  const StreamReport report = stream(
      *bench.device, problem, {.queries = *queries, .training = *training, .targets = *targets, .values = values},
      {.memory_bytes = kMemoryBytes});
  const bool is_right = values[0] == 1 && values[1] == 1;  // whatever is far away weighs 0
  return report.slabs.size() > 1 && (is_right || !bench.options.kernels_compute);
}

}  // namespace tessera::fault
