// The study of conv2d. A published study convolved int32 images of 64 x 64 to 4096 x 4096 with filters of 3 x 3, 5 x 5
// and 7 x 7: on a CPU with three versions (each product added to the output in memory, a sum of its own, loops unrolled
// by size) over 1 to 8 threads, on a GPU with plain loops and with tiles in shared memory. This one does that for every
// variant on every device, on both executors of the CPU, and adds float and filters of rank 1. Blocks and directions of
// the GPU's plain kernel, and curves over every number of threads, are parts of their own.
#include "tools/study/study.h"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/conv2d/conv2d_problems.h"
#include "tools/study/series_table.h"
#include "tools/study/study_bench.h"
#include "tools/study/thread_table.h"
#include "tools/study/tunable_table.h"
#include "tools/study/tuning_list.h"

namespace tessera::tool {

namespace {

/// What variants call the edge of their tiles.
const std::vector<std::string_view>& conv2d_tile_tunables() {
  static const std::vector<std::string_view> names{"tile"};
  return names;
}

/// "4096^2 7x7" for int32, "4096^2 7x7 float32", "4096^2 7x7 int32 rank 1".
std::string conv2d_label(const conformance::Case& problem) {
  const std::int64_t height = size_of(problem, "height");
  const std::int64_t width = size_of(problem, "width");
  std::string label = height == width ? fmt::format("{}^2", height) : fmt::format("{}x{}", height, width);
  label += fmt::format(" {}x{}", size_of(problem, "filter_height"), size_of(problem, "filter_width"));
  if (problem.part() == conformance::kConv2dStudyTypes) label += fmt::format(" {}", to_string(problem.type()));
  if (problem.name().find("_valid") != std::string_view::npos) label += " valid";
  if (problem.name().find("_rank1") != std::string_view::npos) label += " rank 1";
  return label;
}

/// The number of threads is varied with these alone: the smaller filters take as long to measure and tell the same.
bool has_largest_filter(const conformance::Case& problem) {
  return size_of(problem, "filter_height") == conformance::kConv2dStudyLargestFilter;
}

/// Squares of the published study's edges and what is preferred, threads beside and below each other.
std::vector<Tuning> conv2d_blocks() {
  std::vector<Tuning> blocks;
  for (const std::int64_t down : {0, 1}) {
    for (const auto& [columns, rows] : {std::pair{8, 8}, std::pair{16, 16}, std::pair{32, 32}, std::pair{32, 8}})
      blocks.push_back({{"block_columns", columns}, {"block_rows", rows}, {"down_columns", down}});
  }
  return blocks;
}

std::vector<Tuning> conv2d_tiles() {
  std::vector<Tuning> tiles;
  for (const std::int64_t edge : {8, 16, 32}) tiles.push_back({{"tile", edge}});
  return tiles;
}

/// Every number of threads from 1 to 16, and so many more that no processor of the machine is left.
std::vector<std::uint32_t> conv2d_thread_counts(const StudyBench& bench) {
  if (bench.request().quick) return {1, 2, 3};
  std::uint32_t most = 16;
  for (const OpenDevice& device : bench.devices()) {
    if (device.info.kind == DeviceKind::cpu) most = std::max(most, device.info.compute_units);
  }
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count <= 16; ++count) counts.push_back(count);
  counts.push_back(most + most / 2);
  counts.push_back(2 * most);
  return counts;
}

void run_conv2d_sizes(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords records = bench.measure_variants(conformance::kConv2dStudySizes, conv2d_tile_tunables());
  const std::vector<DeviceScores> scores = score_variants(records);
  append(records, bench.measure_threads(conformance::kConv2dStudySizes, has_largest_filter, {"sequential"}));
  const std::vector<ThreadRow> threads = thread_rows(records);
  print_table(text, "threads: time of one run, and speed-up over one thread", thread_text(threads, conv2d_label));
  print_table(text, "variants over all sizes, int32", scores_text(scores, conv2d_label));
  result.conclusions["threads"] = to_json(threads, conv2d_label);
  Json& devices = result.conclusions["devices"] = Json::array();
  for (const DeviceScores& device : scores) devices.push_back(to_json(device, conv2d_label));
  append(result.records, std::move(records));
}

void run_conv2d_blocks(StudyBench& bench, std::ostream& text, StudyResult& result) {
  BenchRecords blocks = bench.measure_tunings(conformance::kConv2dStudyBlocks, "naive", conv2d_blocks());
  append(blocks, bench.measure_tunings(conformance::kConv2dStudyBlocks, "tiled", conv2d_tiles()));
  print_table(text, "blocks and directions", tuning_list_text(blocks, conv2d_label));
  result.conclusions["blocks"] = tuning_list_json(blocks, conv2d_label);
  append(result.records, std::move(blocks));
}

/// The published curves: its three versions over threads of a standing pool, and over such as each run creates, which
/// are the same on every device of the processor.
void run_conv2d_curves(StudyBench& bench, std::ostream& text, StudyResult& result) {
  const std::vector<std::string_view> versions{"accumulate", "private_sum", "unrolled"};
  Json& curves = result.conclusions["curves"] = Json::array();
  for (const std::int64_t new_threads : {0, 1}) {
    BenchRecords records = bench.measure_thread_counts(conformance::kConv2dStudyCurves, conv2d_thread_counts(bench),
                                                       versions, {{"new_threads", new_threads}}, new_threads != 0);
    const std::vector<ThreadRow> rows = thread_rows(records);
    print_table(text, new_threads != 0 ? "curves, threads created for each run" : "curves, a standing pool",
                thread_text(rows, conv2d_label));
    for (Json& row : to_json(rows, conv2d_label)) {
      row["new_threads"] = new_threads != 0;
      curves.push_back(std::move(row));
    }
    append(result.records, std::move(records));
  }
}

}  // namespace

Study conv2d_study() {
  return {.operator_name = Conv2d::kName,
          .summary = "every variant for 7 sizes and 3 filters, 1 to N threads, tiles, float and filters of rank 1",
          .parts = {conformance::kConv2dStudySizes, conformance::kConv2dStudyTypes, conformance::kConv2dStudyBlocks,
                    conformance::kConv2dStudyCurves},
          .label = conv2d_label,
          .run = [](StudyBench& bench, std::ostream& text) {
            StudyResult result;
            if (bench.wants(conformance::kConv2dStudySizes)) run_conv2d_sizes(bench, text, result);
            if (bench.wants(conformance::kConv2dStudyTypes))
              append(result.records, bench.measure_variants(conformance::kConv2dStudyTypes, conv2d_tile_tunables()));
            if (!result.records.empty()) {
              const std::vector<TunableRow> tiles = tunable_rows(result.records, conv2d_tile_tunables());
              print_table(text, "tiles, GFLOP/s", tunable_text(tiles, conv2d_label));
              result.conclusions["tiles"] = to_json(tiles, conv2d_label);
            }
            if (bench.wants(conformance::kConv2dStudyBlocks)) run_conv2d_blocks(bench, text, result);
            if (bench.wants(conformance::kConv2dStudyCurves)) run_conv2d_curves(bench, text, result);
            return result;
          }};
}

}  // namespace tessera::tool
