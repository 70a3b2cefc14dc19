// Field names of the result file of `tessera classify`.
#include "tools/classify/classification_text.h"

namespace tessera::tool {

namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json doubtful_json(const DoubtfulImage& image) {
  const Judgement& j = image.judgement;
  // A value that is no number becomes null.
  return {{"image", image.index},
          {"label", image.label},
          {"answer", or_null(image.answer)},
          {"value", j.value},
          {"margin", image.margin},
          {"neighbours", j.neighbours},
          {"nearest_row", j.nearest_row < 0 ? Json() : Json(j.nearest_row)},
          {"nearest_label", or_null(image.nearest_label)},
          {"nearest_distance", j.nearest_distance}};
}

Json times_json(const ClassificationReport& r) {
  return {{"open_s", r.open_s},
          {"read_training_s", r.read_training_s},
          {"compile_s", r.times.compile_s},
          {"upload_training_s", r.times.upload_training_s},
          {"prepare_s", r.times.prepare_s},
          {"read_test_s", r.read_test_s},
          {"upload_test_s", r.times.upload_images_s},
          {"compute_s", r.times.compute_s},
          {"download_s", r.times.download_s},
          {"stream_s", r.times.stream_s},
          {"total_s", r.total_s}};
}

}  // namespace

Json classification_json(const Classification& request, const ClassificationReport& report) {
  Json result = result_head("tessera classify");
  result["devices"].push_back(to_json(report.device));
  result.erase("records");
  result["operator"] = report.kernel.operator_name;
  result["device"] = report.kernel.device;
  result["variant"] = report.kernel.variant;
  result["tuning"] = to_json(report.kernel.tuning);
  result["problem"] = {
      {"training_rows", report.training_rows},   {"test_rows", report.test_rows}, {"columns", report.columns},
      {"type", to_string(report.type)},          {"order", request.order},        {"scale", report.scale},
      {"distance", to_string(request.distance)}, {"batch", report.batch}};
  result["answers_by"] = request.by_vote ? "vote" : "value";
  result["accuracy"] = {{"right", report.right},
                        {"share", report.share(report.right)},
                        {"share_by_value", report.share(report.right_by_value)},
                        {"share_by_vote", report.share(report.right_by_vote)}};
  result["times"] = times_json(report);
  if (report.slabs != 0) result["stream"] = {{"slabs", report.slabs}, {"memory_bytes", report.memory_bytes}};
  result["confusion"] = Json::array();
  for (const auto& [pair, count] : report.counts) {
    result["confusion"].push_back({{"label", pair.first}, {"answer", pair.second}, {"count", count}});
  }
  result["doubtful"] = Json::array();
  for (const DoubtfulImage& image : report.doubtful) result["doubtful"].push_back(doubtful_json(image));
  result["unanswered"] = report.unanswered;
  return result;
}

}  // namespace tessera::tool
