// The study of cnn_layer. A published study computed one layer (256 to 256 channels, 5 x 5, 228 x 228, 2 x 2 pool) on a
// Tesla M60 through OpenCL: 2250 GFLOP/s, 217 times its sequential program. It found that the loops over input channel
// and filter position belong outside (48 x), that the channel loop is to be unrolled (18 x), that bias, ReLU and pool
// are faster as three loops than as one (1.2 x), and that 1792 groups of 64 work-items are best. Here every variant
// computes that layer on every device, and the variant of that scheme is measured with each finding on and off and with
// three tiles times three sub-tiles; on request one thread computes it, which takes minutes.
#include "tools/study/study.h"

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/cnn_layer/cnn_layer_problems.h"
#include "tools/output/table.h"
#include "tools/study/series_table.h"
#include "tools/study/study_bench.h"
#include "tools/study/tunable_table.h"
#include "tools/study/tuning_list.h"

namespace tessera::tool {

namespace {

constexpr std::array<std::string_view, 7> kFindings{"filter_outermost", "unroll",      "fused",     "aligned",
                                                    "sums_aligned",     "sums_zeroed", "global_ids"};

/// Tiles of the table: as many output channels, times 8 rows and 14 columns of outputs. The middle one gives the
/// study's 1792 groups on its layer.
constexpr std::array<std::int64_t, 3> kTileChannels{32, 16, 8};
constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileColumns = 14;
/// Work-items of a group.
constexpr std::array<std::int64_t, 3> kItems{32, 64, 128};

/// "256 channels, 228^2": as many in as out.
std::string cnn_layer_label(const conformance::Case& problem) {
  return fmt::format("{} channels, {}^2", size_of(problem, "output_channels"), size_of(problem, "height"));
}

/// Sub-tiles of channels x 1 row x 7 columns of outputs, 2 x 14 before the pool, so large that a tile has so many.
std::vector<Tuning> tunings_of_table() {
  std::vector<Tuning> tunings;
  for (const std::int64_t channels : kTileChannels) {
    for (const std::int64_t items : kItems) {
      const std::int64_t outputs = channels * kTileRows * kTileColumns / items;
      // A sub-tile of two channels is none that the variant offers: it has two rows instead.
      const bool has_two_rows = outputs == 14;
      tunings.push_back({{"tile_channels", channels},
                         {"tile_rows", kTileRows},
                         {"tile_columns", kTileColumns},
                         {"sub_channels", outputs / 7 / (has_two_rows ? 2 : 1)},
                         {"sub_rows", has_two_rows ? 4 : 2},
                         {"sub_columns", 14}});
    }
  }
  return tunings;
}

/// The sums where they have an address, as the study's had: the channel loop is not unrolled. As preferred, then each
/// of what the study tried of them, for as many channels as every form is compiled for.
std::vector<Tuning> tunings_of_sums() {
  std::vector<Tuning> tunings;
  for (const auto& [aligned, zeroed] : {std::pair{0, 1}, std::pair{1, 1}, std::pair{0, 0}})
    tunings.push_back({{"sub_channels", 8}, {"unroll", 0}, {"sums_aligned", aligned}, {"sums_zeroed", zeroed}});
  return tunings;
}

/// One cell of the table.
struct Cell {
  std::int64_t groups;
  std::int64_t items;
};
Cell cell_of(const BenchRecord& record) {
  const Tuning& tuning = record.job.tuning;
  const conformance::Case& problem = *record.job.problem;
  const auto pieces = [](std::int64_t length, std::int64_t piece) { return (length + piece - 1) / piece; };
  const std::int64_t side = (size_of(problem, "height") - size_of(problem, "filter_height") + 1) / 2;
  const std::int64_t sub_outputs = tuning.at("sub_channels") * tuning.at("sub_rows") / 2 * tuning.at("sub_columns") / 2;
  return {pieces(size_of(problem, "output_channels"), tuning.at("tile_channels")) * pieces(side, kTileRows) *
              pieces(side, kTileColumns),
          tuning.at("tile_channels") * kTileRows * kTileColumns / sub_outputs};
}

Json to_json(const std::vector<BenchRecord>& table) {
  Json json = Json::array();
  for (const BenchRecord& record : table) {
    const Cell cell = cell_of(record);
    json.push_back({{"device", record.job.device->name},
                    {"case", cnn_layer_label(*record.job.problem)},
                    {"groups", cell.groups},
                    {"items", cell.items},
                    {"gflops", record.measurement ? Json(speed_of(record)) : Json()}});
  }
  return json;
}

std::string table_text(const std::vector<BenchRecord>& records) {
  if (records.empty()) return {};
  Table table({{"device"}, {"case"}, {"groups", Align::right}, {"items", Align::right}, {"GFLOP/s", Align::right}});
  for (const BenchRecord& record : records) {
    const Cell cell = cell_of(record);
    table.add_row({record.job.device->name, cnn_layer_label(*record.job.problem), fmt::format("{}", cell.groups),
                   fmt::format("{}", cell.items),
                   record.measurement ? format_number(speed_of(record)) : std::string(to_string(record.status))});
  }
  return table.render();
}

/// The rows of those variants that have the tunable.
std::vector<TunableRow> finding_rows(const std::vector<BenchRecord>& records, std::string_view finding) {
  std::vector<TunableRow> rows = tunable_rows(records, {finding});
  std::erase_if(rows, [](const TunableRow& row) { return row.tunables.empty(); });
  return rows;
}

void run_cnn_layers(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords records = bench.measure_variants(conformance::kCnnLayerStudyLayers, {});
  const std::vector<DeviceScores> scores = score_variants(records);
  print_table(text, "variants over the layers", scores_text(scores, cnn_layer_label));
  Json& devices = result.conclusions["devices"] = Json::array();
  for (const DeviceScores& device : scores) devices.push_back(to_json(device, cnn_layer_label));
  append(result.records, std::move(records));
}

void run_cnn_findings(StudyBench& bench, std::ostream& text, StudyResult& result) {
  constexpr std::string_view kPart = conformance::kCnnLayerStudyFindings;
  BenchRecords records = bench.measure_variant(kPart, "subtile", {kFindings.begin(), kFindings.end()});
  Json& findings = result.conclusions["findings"] = Json::array();
  for (const std::string_view finding : kFindings) {
    const std::vector<TunableRow> rows = finding_rows(records, finding);
    print_table(text, fmt::format("{} off (0) and on (1), GFLOP/s", finding), tunable_text(rows, cnn_layer_label));
    for (Json& row : to_json(rows, cnn_layer_label)) {
      row["finding"] = finding;
      findings.push_back(std::move(row));
    }
  }
  BenchRecords table = bench.measure_tunings(kPart, "subtile", tunings_of_table());
  print_table(text, "work-groups and work-items of each, subtile", table_text(table));
  result.conclusions["groups_and_items"] = to_json(table);
  BenchRecords sums = bench.measure_tunings(kPart, "subtile", tunings_of_sums());
  print_table(text, "sums in memory: aligned, and not zeroed", tuning_list_text(sums, cnn_layer_label));
  result.conclusions["sums_in_memory"] = tuning_list_json(sums, cnn_layer_label);
  append(result.records, std::move(records));
  append(result.records, std::move(table));
  append(result.records, std::move(sums));
}

void run_cnn_sequential(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords records = bench.measure_long(conformance::kCnnLayerStudySequential, "sequential");
  print_table(text, "one thread", tuning_list_text(records, cnn_layer_label));
  result.conclusions["sequential"] = tuning_list_json(records, cnn_layer_label);
  append(result.records, std::move(records));
}

}  // namespace

Study cnn_layer_study() {
  return {.operator_name = CnnLayer::kName,
          .summary = "every variant on the study's layer, its findings on and off, groups and work-items",
          .parts = {conformance::kCnnLayerStudyLayers, conformance::kCnnLayerStudyFindings},
          .parts_on_request = {conformance::kCnnLayerStudySequential},
          .label = cnn_layer_label,
          .run = [](StudyBench& bench, std::ostream& text) {
            StudyResult result;
            if (bench.wants(conformance::kCnnLayerStudyLayers)) run_cnn_layers(bench, text, result);
            if (bench.wants(conformance::kCnnLayerStudyFindings)) run_cnn_findings(bench, text, result);
            if (bench.wants(conformance::kCnnLayerStudySequential)) run_cnn_sequential(bench, text, result);
            return result;
          }};
}

}  // namespace tessera::tool
