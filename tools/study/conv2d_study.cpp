// The study of conv2d. A published study convolved int32 images of 64 x 64 to 4096 x 4096 with filters of 3 x 3, 5 x 5
// and 7 x 7: on a CPU with three versions (each product added to the output in memory, a sum of its own, loops unrolled
// by size) over 1 to 8 threads, on a GPU with plain loops and with tiles in shared memory. This one does that for every
// variant on every device, on both executors of the CPU, and adds float and filters of rank 1.
#include "tools/study/study.h"

#include <ostream>

#include <fmt/format.h>

#include "conformance/conv2d/conv2d_problems.h"
#include "tools/study/study_bench.h"
#include "tools/study/thread_table.h"
#include "tools/study/tunable_table.h"

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
  if (problem.part() != conformance::kConv2dStudySizes) label += fmt::format(" {}", to_string(problem.type()));
  if (problem.name().find("_rank1") != std::string_view::npos) label += " rank 1";
  return label;
}

/// The number of threads is varied with these alone: the smaller filters take as long to measure and tell the same.
bool has_largest_filter(const conformance::Case& problem) {
  return size_of(problem, "filter_height") == conformance::kConv2dStudyLargestFilter;
}

}  // namespace

Study conv2d_study() {
  return {.operator_name = Conv2d::kName,
          .summary = "every variant for 7 sizes and 3 filters, 1 to N threads, tiles, float and filters of rank 1",
          .label = conv2d_label,
          .run = [](StudyBench& bench, std::ostream& text) {
            StudyResult result;
            result.records = bench.measure_variants(conformance::kConv2dStudySizes, conv2d_tile_tunables());
            const std::vector<DeviceScores> scores = score_variants(result.records);
            for (BenchRecord& record :
                 bench.measure_threads(conformance::kConv2dStudySizes, has_largest_filter, {"sequential"})) {
              result.records.push_back(std::move(record));
            }
            for (BenchRecord& record : bench.measure_variants(conformance::kConv2dStudyTypes, conv2d_tile_tunables())) {
              result.records.push_back(std::move(record));
            }
            const std::vector<ThreadRow> threads = thread_rows(result.records);
            const std::vector<TunableRow> tiles = tunable_rows(result.records, conv2d_tile_tunables());
            print_table(text, "threads: time of one run, and speed-up over one thread",
                        thread_text(threads, conv2d_label));
            print_table(text, "tiles, GFLOP/s", tunable_text(tiles, conv2d_label));
            print_table(text, "variants over all sizes, int32", scores_text(scores, conv2d_label));

            result.conclusions["threads"] = to_json(threads, conv2d_label);
            result.conclusions["tiles"] = to_json(tiles, conv2d_label);
            Json& devices = result.conclusions["devices"] = Json::array();
            for (const DeviceScores& device : scores) devices.push_back(to_json(device, conv2d_label));
            return result;
          }};
}

}  // namespace tessera::tool
