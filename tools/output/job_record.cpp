// Field names and cells.
#include "tools/output/job_record.h"

#include <cmath>

#include <fmt/format.h>

#include "tools/verify/verification.h"

namespace tessera::tool {

Json job_record(const Job& job, const Tuning& tuning, std::string_view status, const std::string& reason) {
  Json json = Json::object();
  json["operator"] = job.set->operator_name;
  json["device"] = job.device->name;
  json["backend"] = job.device->info.backend;
  json["variant"] = job.variant;
  json["case"] = job.problem->name();
  if (!job.problem->part().empty()) json["part"] = job.problem->part();
  json["type"] = to_string(job.problem->type());
  json["problem"] = to_json(job.problem->problem());
  json["tuning"] = to_json(tuning);
  json["status"] = status;
  json["reason"] = reason.empty() ? Json() : Json(reason);
  return json;
}

Json error_record(const std::optional<conformance::Outcome>& outcome) {
  if (!outcome) return {};
  const bool has_rms = outcome->rms_value > 0;
  return {{"worst", outcome->worst_error},
          {"bound", outcome->bound},
          {"rms", has_rms ? Json(outcome->rms_error) : Json()},
          {"rms_of_values", has_rms ? Json(outcome->rms_value) : Json()}};
}

std::string error_cell(const std::optional<conformance::Outcome>& outcome) {
  return outcome ? fmt::format("{:.2g}", share_of_bound(outcome->worst_error, outcome->bound)) : "";
}

std::string rms_cell(const std::optional<conformance::Outcome>& outcome) {
  if (!outcome || !(outcome->rms_value > 0) || !std::isfinite(outcome->rms_error / outcome->rms_value)) return "";
  return fmt::format("{:.2g}", outcome->rms_error / outcome->rms_value);
}

std::string status_cell(std::string_view status, const std::string& reason) {
  return fmt::format("{}{}", status == "failed" ? "FAILED" : status, reason.empty() ? "" : " *");
}

std::string with_notes(const std::string& table, const std::string& notes) {
  return table + (notes.empty() ? "" : "\n* notes\n" + notes);
}

}  // namespace tessera::tool
