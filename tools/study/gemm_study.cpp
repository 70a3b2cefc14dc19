// The study of gemm. A published study measured, on a Tesla K40c, plain loops, A through shared memory with coalesced
// reads, A and B through shared memory, and cuBLAS: for tiles of 4 to 32 at 2048^3, and for every m, n, k of 256,
// 512, 1024 and 2048; before, it told from bytes and the memory's speed what to expect. This one does that for every
// variant on every device, and adds the way to the device and back.
#include "tools/study/study.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conformance/gemm/gemm_problems.h"
#include "tools/study/gemm_prediction.h"
#include "tools/study/series_table.h"
#include "tools/study/study_bench.h"
#include "tools/study/tunable_table.h"
#include "tools/study/tuning_list.h"

namespace tessera::tool {

namespace {

/// What variants call the edge of their tiles; tile_m stands for its pair with tile_n.
const std::vector<std::string_view>& gemm_tile_tunables() {
  static const std::vector<std::string_view> names{"tile", "tile_m"};
  return names;
}

/// "2048^3", or "256 x 512 x 1024" (m x n x k); with what else is not as usual: "2048^3, fast, positive".
std::string gemm_label(const conformance::Case& problem) {
  const std::int64_t m = size_of(problem, "m");
  const std::int64_t n = size_of(problem, "n");
  const std::int64_t k = size_of(problem, "k");
  std::string label = m == n && n == k ? fmt::format("{}^3", m) : fmt::format("{} x {} x {}", m, n, k);
  for (const conformance::Field& field : problem.problem()) {
    const auto* word = std::get_if<std::string>(&field.value);
    if (!word || (field.name != "accuracy" && field.name != "values")) continue;
    if (*word != "accurate" && *word != "symmetric") label += ", " + *word;
  }
  return label;
}

/// Squares of the published study's edges, and what is preferred.
std::vector<Tuning> gemm_blocks() {
  std::vector<Tuning> blocks;
  for (const std::int64_t edge : {4, 8, 16, 32}) blocks.push_back({{"block_columns", edge}, {"block_rows", edge}});
  blocks.push_back({{"block_columns", 32}, {"block_rows", 8}});
  return blocks;
}

std::vector<Tuning> gemm_tiles() {
  std::vector<Tuning> tiles;
  for (const std::int64_t edge : {4, 8, 16, 32}) tiles.push_back({{"tile", edge}});
  return tiles;
}

void run_gemm_shapes(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords records = bench.measure_variants(conformance::kGemmStudyShapes, gemm_tile_tunables());
  const std::vector<DeviceScores> scores = score_variants(records);
  const std::vector<TunableRow> tiles = tunable_rows(records, gemm_tile_tunables());
  print_table(text, "tiles and blocks, GFLOP/s", tunable_text(tiles, gemm_label));
  print_table(text, "variants over all shapes (m x n x k)", scores_text(scores, gemm_label));
  result.conclusions["tiles"] = to_json(tiles, gemm_label);
  Json& devices = result.conclusions["devices"] = Json::array();
  for (const DeviceScores& device : scores) devices.push_back(to_json(device, gemm_label));
  append(result.records, std::move(records));
}

/// The published table of blocks, and what was predicted of each.
void run_gemm_blocks(StudyBench& bench, std::ostream& text, StudyResult& result) {
  constexpr std::string_view kBlocks = conformance::kGemmStudyBlocks;
  BenchRecords preferred = bench.measure_variants(kBlocks, {});
  BenchRecords blocks = bench.measure_tunings(kBlocks, "naive", gemm_blocks());
  append(blocks, bench.measure_tunings(kBlocks, "coalesced_a", gemm_tiles()));
  append(blocks, bench.measure_tunings(kBlocks, "tiled", gemm_tiles()));
  const std::vector<GemmPrediction> best = gemm_predictions(preferred, bench.peaks());
  const std::vector<GemmPrediction> each = gemm_predictions(blocks, bench.peaks());
  print_table(text, "blocks", tuning_list_text(blocks, gemm_label));
  print_table(text, "predicted from bytes and the copy rate, as preferred", prediction_text(best, gemm_label));
  result.conclusions["blocks"] = tuning_list_json(blocks, gemm_label);
  result.conclusions["prediction"] = to_json(best, gemm_label);
  result.conclusions["prediction_by_block"] = to_json(each, gemm_label);
  append(result.records, std::move(preferred));
  append(result.records, std::move(blocks));
}

void run_gemm_transfers(StudyBench& bench, std::ostream& text, StudyResult& result) {
  result.transfers = bench.measure_transfers(conformance::kGemmStudyTransfers);
  const std::vector<BreakEven> break_even = find_break_even(result.transfers);
  print_table(text, "to the device and back, wall times", transfers_text(result.transfers, gemm_label));
  print_table(text, "from which size on the way is worth it", break_even_text(break_even, gemm_label));
  Json& from = result.conclusions["break_even"] = Json::array();
  for (const BreakEven& entry : break_even) from.push_back(to_json(entry, gemm_label));
}

/// Every variant with exact and with rounded products: its error stands beside its speed in the records.
void run_gemm_precision(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords records = bench.measure_variants(conformance::kGemmStudyPrecision, {});
  print_table(text, "speed and error", bench_table(records));
  append(result.records, std::move(records));
}

}  // namespace

Study gemm_study() {
  return {.operator_name = Gemm::kName,
          .summary =
              "every variant for 64 shapes, blocks of 4 to 32 beside what is predicted, the way to the device and "
              "back, errors beside speeds",
          .parts = {conformance::kGemmStudyShapes, conformance::kGemmStudyBlocks, conformance::kGemmStudyTransfers,
                    conformance::kGemmStudyPrecision},
          .label = gemm_label,
          .run = [](StudyBench& bench, std::ostream& text) {
            StudyResult result;
            if (bench.wants(conformance::kGemmStudyShapes)) run_gemm_shapes(bench, text, result);
            if (bench.wants(conformance::kGemmStudyBlocks)) run_gemm_blocks(bench, text, result);
            if (bench.wants(conformance::kGemmStudyTransfers)) run_gemm_transfers(bench, text, result);
            if (bench.wants(conformance::kGemmStudyPrecision)) run_gemm_precision(bench, text, result);
            return result;
          }};
}

}  // namespace tessera::tool
