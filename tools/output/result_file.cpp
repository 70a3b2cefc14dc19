// Field names of result files, and the lines of their JSON.
#include "tools/output/result_file.h"

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// Raised when a field changes its name or meaning.
constexpr int kResultFormat = 1;

/// A name that a driver gave need not be valid UTF-8: such bytes are replaced, not an error.
std::string on_one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Each field on a line of its own, and each element of a list: studies write thousands of records, and people search
/// and compare them by lines.
std::string lines_of(const Json& result) {
  std::string text = "{";
  for (const auto& [name, value] : result.items()) {
    text += fmt::format("{}\n{}: ", text == "{" ? "" : ",", on_one_line(name));
    if (!value.is_array() || value.empty()) {
      text += on_one_line(value);
      continue;
    }
    for (const Json& element : value) {
      text += fmt::format("{}\n  {}", &element == &value.front() ? "[" : ",", on_one_line(element));
    }
    text += "\n]";
  }
  return text + "\n}\n";
}

}  // namespace

Json to_json(const Machine& machine) {
  return {{"cpu", machine.cpu},         {"cores", machine.cores},
          {"threads", machine.threads}, {"memory_bytes", machine.memory_bytes},
          {"os", machine.os},           {"kernel", machine.kernel}};
}

Json to_json(const DeviceInfo& info) {
  return {{"id", info.id},
          {"backend", info.backend},
          {"name", info.name},
          {"vendor", info.vendor},
          {"kind", to_string(info.kind)},
          {"driver", info.driver},
          {"driver_version", info.driver_version},
          {"api_version", info.api_version},
          {"instruction_set", info.instruction_set},
          {"memory_total_bytes", info.memory_total_bytes},
          {"memory_free_bytes", info.memory_free_bytes},
          {"max_allocation_bytes", info.max_allocation_bytes},
          {"cache_bytes", info.cache_bytes},
          {"compute_units", info.compute_units},
          {"max_group_size", info.max_group_size},
          {"max_group_extent", info.max_group_extent},
          {"local_memory_bytes", info.local_memory_bytes},
          {"has_float64", info.has_float64},
          {"has_float16", info.has_float16},
          {"unified_memory", info.unified_memory},
          {"timer_resolution_s", info.timer_resolution_s},
          {"pci_address", info.pci_address},
          {"uuid", info.uuid}};
}

Json to_json(const BackendInfo& info) {
  return {
      {"name", info.name},
      {"state", to_string(info.state)},
      {"reason", info.reason},
      // The file's name without its folder: result files are passed on, and must not tell the folders of this machine.
      {"library", std::filesystem::path(info.plugin).filename().string()},
      {"devices", info.devices}};
}

Json to_json(const Statistics& statistics) {
  return {{"median", statistics.median},
          {"min", statistics.min},
          {"max", statistics.max},
          {"count", statistics.count},
          {"spread", statistics.spread}};
}

Json to_json(const Tuning& tuning) {
  Json result = Json::object();
  for (const auto& [name, value] : tuning) result[name] = value;
  return result;
}

Json to_json(const std::vector<conformance::Field>& problem) {
  Json result = Json::object();
  for (const auto& field : problem) {
    std::visit([&](const auto& value) { result[field.name] = value; }, field.value);
  }
  return result;
}

Json result_head(const std::string& tool) {
  Json result = Json::object();
  result["tool"] = tool;
  result["format"] = kResultFormat;
  result["date"] = utc_now();
  result["library"] = {{"version", version()}, {"commit", commit()}};
  result["machine"] = to_json(this_machine());
  result["backends"] = Json::array();
  for (const BackendInfo& backend : backends()) result["backends"].push_back(to_json(backend));
  result["devices"] = Json::array();
  result["records"] = Json::array();
  return result;
}

ResultFile::ResultFile(std::string where) : where_(std::move(where)) {
  if (!where_.empty()) file_.emplace(where_, "the result file");
}

void ResultFile::write(const Json& result) {
  if (!file_) return;
  const std::string text = lines_of(result);
  std::cout.flush();  // it may be the same file
  if (!file_->write(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())) file_->fail();
  file_->commit();
}

std::ostream& ResultFile::text() const {
  return where_ == "-" ? std::cerr : std::cout;
}

}  // namespace tessera::tool
