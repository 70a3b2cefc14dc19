// The study of gemm. A published study measured, on a Tesla K40c, plain loops, A through shared memory with coalesced
// reads, A and B through shared memory, and cuBLAS: for tiles of 4 to 32 at 2048^3, and for every m, n, k of 256, 512,
// 1024 and 2048. This one does that for every variant on every device, and adds the way to the device and back.
#include "tools/study/study.h"

#include <ostream>

#include <fmt/format.h>

#include "conformance/gemm/gemm_problems.h"
#include "tools/study/study_bench.h"
#include "tools/study/tunable_table.h"

namespace tessera::tool {

namespace {

/// What variants call the edge of their tiles or blocks; tile_m stands for its pair with tile_n.
const std::vector<std::string_view>& gemm_tile_tunables() {
  static const std::vector<std::string_view> names{"tile", "block", "tile_m"};
  return names;
}

/// "2048^3", or "256 x 512 x 1024" (m x n x k).
std::string gemm_label(const conformance::Case& problem) {
  const std::int64_t m = size_of(problem, "m");
  const std::int64_t n = size_of(problem, "n");
  const std::int64_t k = size_of(problem, "k");
  return m == n && n == k ? fmt::format("{}^3", m) : fmt::format("{} x {} x {}", m, n, k);
}

}  // namespace

Study gemm_study() {
  return {.operator_name = Gemm::kName,
          .summary = "every variant for 64 shapes, tiles of 4 to 32, and the way to the device and back",
          .label = gemm_label,
          .run = [](StudyBench& bench, std::ostream& text) {
            StudyResult result;
            result.records = bench.measure_variants(conformance::kGemmStudyShapes, gemm_tile_tunables());
            result.transfers = bench.measure_transfers(conformance::kGemmStudyTransfers);

            const std::vector<DeviceScores> scores = score_variants(result.records);
            const std::vector<TunableRow> tiles = tunable_rows(result.records, gemm_tile_tunables());
            const std::vector<BreakEven> break_even = find_break_even(result.transfers);
            print_table(text, "tiles and blocks, GFLOP/s", tunable_text(tiles, gemm_label));
            print_table(text, "variants over all shapes (m x n x k)", scores_text(scores, gemm_label));
            print_table(text, "to the device and back, wall times", transfers_text(result.transfers, gemm_label));
            print_table(text, "from which size on the way is worth it", break_even_text(break_even, gemm_label));

            result.conclusions["tiles"] = to_json(tiles, gemm_label);
            Json& devices = result.conclusions["devices"] = Json::array();
            for (const DeviceScores& device : scores) devices.push_back(to_json(device, gemm_label));
            Json& from = result.conclusions["break_even"] = Json::array();
            for (const BreakEven& entry : break_even) from.push_back(to_json(entry, gemm_label));
            return result;
          }};
}

}  // namespace tessera::tool
