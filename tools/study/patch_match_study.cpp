// The study of patch_match. A published study kept the nearest patches of a reference with one work-item that inserts
// them, as its original did, and with repeated minimum reductions of the whole group (MinAndSwap), which was 1.9 to 2
// times as fast. Here every variant finds the same stacks on every device: in three types, over the group sizes and the
// unrolling of the study's two kernels, over windows, and over the places of a stack.
#include "tools/study/study.h"

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conformance/patch_match/patch_match_problems.h"
#include "tools/output/table.h"
#include "tools/study/series_table.h"
#include "tools/study/study_bench.h"
#include "tools/study/tunable_table.h"

namespace tessera::tool {

namespace {

constexpr std::string_view kPatchThreads = "threads";
constexpr std::string_view kPatchUnroll = "unroll";
/// The study's two kernels.
constexpr std::string_view kOriginal = "insertion";
constexpr std::string_view kReduction = "min_and_swap";

std::string words_of(const conformance::Case& problem, std::string_view name) {
  for (const conformance::Field& field : problem.problem()) {
    const auto* value = std::get_if<std::string>(&field.value);
    if (value != nullptr && field.name == name) return *value;
  }
  return {};
}

/// "176x120x75 uint8, window 11x11x11, 16 kept".
std::string patch_label(const conformance::Case& problem) {
  return fmt::format("{} {}, window {}, {} kept", words_of(problem, "size"), to_string(problem.type()),
                     words_of(problem, "window"), size_of(problem, "max_patches"));
}

/// Pairs of voxels that are compared.
double voxel_pairs(const conformance::Case& problem) {
  return problem.work().flops / 2;
}

/// One device and case: the study's two kernels and what is fastest.
struct KernelPair {
  const BenchRecord* original = nullptr;
  const BenchRecord* reduction = nullptr;
  const BenchRecord* fastest = nullptr;

  [[nodiscard]] const BenchRecord& any() const { return *fastest; }
};

double median_s(const BenchRecord& record) {
  return record.measurement->device_s.median;
}

/// Those devices and cases that have both kernels, from records that are sorted by device and case.
std::vector<KernelPair> kernel_pairs(const BenchRecords& records) {
  std::vector<KernelPair> pairs;
  const BenchRecord* before = nullptr;
  for (const BenchRecord& record : records) {
    const bool is_new =
        before == nullptr || before->job.device != record.job.device || before->job.problem != record.job.problem;
    before = &record;
    if (is_new) pairs.emplace_back();
    if (!record.measurement || record.job.is_extra) continue;
    KernelPair& pair = pairs.back();
    if (record.job.variant == kOriginal) pair.original = &record;
    if (record.job.variant == kReduction) pair.reduction = &record;
    if (pair.fastest == nullptr || median_s(record) < median_s(*pair.fastest)) pair.fastest = &record;
  }
  std::erase_if(pairs, [](const KernelPair& pair) { return pair.original == nullptr || pair.reduction == nullptr; });
  return pairs;
}

std::string pairs_text(const std::vector<KernelPair>& pairs) {
  if (pairs.empty()) return {};
  Table table({{"device"},
               {"case"},
               {std::string(kOriginal), Align::right},
               {std::string(kReduction), Align::right},
               {"times as fast", Align::right},
               {"fastest"},
               {"its time", Align::right}});
  for (const KernelPair& pair : pairs) {
    const Job& job = pair.any().job;
    table.add_row({job.device->name, patch_label(*job.problem), format_seconds(median_s(*pair.original)),
                   format_seconds(median_s(*pair.reduction)),
                   format_number(median_s(*pair.original) / median_s(*pair.reduction)), job.variant,
                   format_seconds(median_s(*pair.fastest))});
  }
  return table.render();
}

Json to_json(const std::vector<KernelPair>& pairs) {
  Json json = Json::array();
  for (const KernelPair& pair : pairs) {
    const Job& job = pair.any().job;
    json.push_back({{"device", job.device->name},
                    {"case", patch_label(*job.problem)},
                    {"original_s", median_s(*pair.original)},
                    {"reduction_s", median_s(*pair.reduction)},
                    {"fastest", job.variant},
                    {"fastest_s", median_s(*pair.fastest)}});
  }
  return json;
}

void run_patch_versions(StudyBench& bench, std::ostream& text, StudyResult& result) {
  result.records = bench.measure_variants(conformance::kPatchStudyVersions, {kPatchThreads, kPatchUnroll});
  const std::vector<DeviceScores> scores = score_variants(result.records);
  print_table(text, "variants over the types", scores_text(scores, patch_label));
  Json& devices = result.conclusions["devices"] = Json::array();
  for (const DeviceScores& device : scores) devices.push_back(to_json(device, patch_label));
  Json& groups = result.conclusions["groups"] = Json::array();
  for (const std::string_view tunable : {kPatchThreads, kPatchUnroll}) {
    std::vector<TunableRow> rows = tunable_rows(result.records, {tunable});
    std::erase_if(rows, [](const TunableRow& row) { return row.tunables.empty(); });
    print_table(text, fmt::format("groups by {}, GFLOP/s", tunable), tunable_text(rows, patch_label));
    for (Json& row : to_json(rows, patch_label)) groups.push_back(std::move(row));
  }
}

StudyResult run_patch_study(StudyBench& bench, std::ostream& text) {
  StudyResult result;
  Json kernels = Json::object();
  const auto compare = [&](std::string_view part, std::string_view title, const BenchRecords& records) {
    const std::vector<KernelPair> pairs = kernel_pairs(records);
    print_table(text, title, pairs_text(pairs));
    kernels[std::string(part)] = to_json(pairs);
  };
  if (bench.wants(conformance::kPatchStudyVersions)) {
    run_patch_versions(bench, text, result);
    compare(conformance::kPatchStudyVersions, "the original and MinAndSwap over the types", result.records);
  }
  for (const auto& [part, over] :
       {std::pair{conformance::kPatchStudyWindows, "windows"}, std::pair{conformance::kPatchStudyStacks, "places"}}) {
    if (!bench.wants(part)) continue;
    BenchRecords series = bench.measure_variants(part, {});
    print_table(text, fmt::format("time over {}", over),
                series_text(series, patch_label, "pairs of voxels", voxel_pairs));
    compare(part, fmt::format("the original and MinAndSwap over {}", over), series);
    append(result.records, std::move(series));
  }
  result.conclusions["kernels"] = std::move(kernels);
  return result;
}

}  // namespace

Study patch_match_study() {
  return {.operator_name = PatchMatch::kName,
          .summary = "every variant on the reference volume, groups of its two GPU kernels, windows, places of a stack",
          .parts = {conformance::kPatchStudyVersions, conformance::kPatchStudyWindows, conformance::kPatchStudyStacks},
          .label = patch_label,
          .run = run_patch_study};
}

}  // namespace tessera::tool
