// Bytes for each product, and the speed that they allow.
#include "tools/study/gemm_prediction.h"

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

std::string tuning_of(const BenchRecord& record) {
  std::string text;
  for (const auto& [name, value] : record.tuning) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace

std::optional<double> gemm_reads_per_product(std::string_view variant, const Tuning& tuning) {
  const auto share = [&](const char* name) {
    const auto found = tuning.find(name);
    return found == tuning.end() ? 0.0 : 1.0 / static_cast<double>(found->second);
  };
  if (variant == "naive" || variant == "sequential") return 2;
  if (variant == "coalesced_a" && share("tile") > 0) return 1 + share("tile");
  if (variant == "tiled" && share("tile") > 0) return 2 * share("tile");
  const bool is_of_both =
      variant == "register" || variant == "register_local" || variant == "split" || variant == "split_mma";
  if (is_of_both && share("tile_m") > 0 && share("tile_n") > 0) return share("tile_m") + share("tile_n");
  return std::nullopt;
}

std::vector<GemmPrediction> gemm_predictions(const BenchRecords& records, const DevicePeaks& peaks) {
  std::vector<GemmPrediction> predictions;
  for (const BenchRecord& record : records) {
    const auto found = peaks.find(record.job.device);
    const auto reads = gemm_reads_per_product(record.job.variant, record.tuning);
    if (record.status != BenchStatus::verified || !reads || found == peaks.end()) continue;
    const std::optional<double>& copy = found->second.copy_gbytes_per_s.value;
    if (!copy) continue;
    GemmPrediction prediction{.record = &record};
    prediction.bytes_per_product = *reads * static_cast<double>(size_bytes(record.job.problem->type()));
    prediction.copy_gbytes_per_s = *copy;
    prediction.gflops = 2 * *copy / prediction.bytes_per_product;
    predictions.push_back(prediction);
  }
  return predictions;
}

Json to_json(const std::vector<GemmPrediction>& predictions, CaseLabel label) {
  Json json = Json::array();
  for (const GemmPrediction& prediction : predictions) {
    const BenchRecord& record = *prediction.record;
    Json entry{{"device", record.job.device->name},
               {"variant", record.job.variant},
               {"case", label(*record.job.problem)},
               {"bytes_per_product", prediction.bytes_per_product},
               {"copy_gbytes_per_s", prediction.copy_gbytes_per_s},
               {"predicted_gflops", prediction.gflops},
               {"gflops", speed_of(record)}};
    entry["tuning"] = Json::object();
    for (const auto& [name, value] : record.tuning) entry["tuning"][name] = value;
    json.push_back(std::move(entry));
  }
  return json;
}

std::string prediction_text(const std::vector<GemmPrediction>& predictions, CaseLabel label) {
  if (predictions.empty()) return {};
  Table table({{"device"},
               {"case"},
               {"variant"},
               {"tuning"},
               {"bytes a product", Align::right},
               {"predicted GFLOP/s", Align::right},
               {"GFLOP/s", Align::right},
               {"of predicted", Align::right}});
  for (const GemmPrediction& prediction : predictions) {
    const BenchRecord& record = *prediction.record;
    table.add_row({record.job.device->name, label(*record.job.problem), record.job.variant, tuning_of(record),
                   fmt::format("{:.3f}", prediction.bytes_per_product), format_number(prediction.gflops),
                   format_number(speed_of(record)), fmt::format("{:.2f}", speed_of(record) / prediction.gflops)});
  }
  return table.render();
}

}  // namespace tessera::tool
