// Nothing of a file is believed before it was looked at: it may come from anywhere.
#include "tools/bench/old_results.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/input/json_reading.h"

namespace tessera::tool {

namespace {

std::string key_of(std::string_view operator_name, std::string_view device, std::string_view variant,
                   std::string_view problem, const Json& tuning) {
  // By name, in whatever order a file has them.
  const nlohmann::json sorted = tuning;
  return fmt::format("{}\n{}\n{}\n{}\n{}", operator_name, device, variant, problem,
                     sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string device_words(const DeviceInfo& info) {
  return fmt::format("{} (driver {})", info.name, info.driver_version);
}

OldResults::OldResults(const std::string& path) : name_(path) {
  read(read_json_file(path, "the result"));
}

OldResults::OldResults(const Json& result, std::string name) : name_(std::move(name)) {
  read(result);
}

void OldResults::read(const Json& result) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the result '{}' {}", name_, why));
  };
  if (!result.is_object() || text_of(result, "tool") != "tessera bench") refuse("is none of `tessera bench`");
  const auto records = result.find("records");
  if (records == result.end() || !records->is_array()) refuse("has no list of records");
  std::size_t number = 0;
  for (const Json& record : *records) {
    ++number;
    if (!record.is_object()) refuse(fmt::format("has a record {} that is none", number));
    if (text_of(record, "status") != "verified") continue;
    const auto operator_name = text_of(record, "operator"), device = text_of(record, "device"),
               variant = text_of(record, "variant"), problem = text_of(record, "case");
    const auto tuning = record.find("tuning"), time = record.find("device_time_s");
    if (!operator_name || !device || !variant || !problem || tuning == record.end() || time == record.end() ||
        !time->is_object())
      refuse(fmt::format("has a record {} that lacks what it was", number));
    const auto median = number_of(*time, "median"), spread = number_of(*time, "spread");
    if (!median || !spread || !(*median > 0) || *spread < 0)
      refuse(fmt::format("has a record {} without a time", number));
    times_[key_of(*operator_name, *device, *variant, *problem, *tuning)] = {
        *median, *spread, std::clamp(number_of(record, "others_share").value_or(0), 0.0, 1.0)};
  }
  const auto devices = result.find("devices");
  if (devices == result.end() || !devices->is_array()) return;
  for (const Json& device : *devices) {
    if (!device.is_object()) continue;
    const auto id = text_of(device, "id"), name = text_of(device, "name");
    if (id && name)
      devices_[*id] = fmt::format("{} (driver {})", *name, text_of(device, "driver_version").value_or("unknown"));
  }
}

const OldTime* OldResults::find(const BenchRecord& record) const {
  const Job& job = record.job;
  const auto found = times_.find(
      key_of(job.set->operator_name, job.device->name, job.variant, job.problem->name(), to_json(record.tuning)));
  return found == times_.end() ? nullptr : &found->second;
}

std::string OldResults::device(const std::string& id) const {
  const auto found = devices_.find(id);
  return found == devices_.end() ? "" : found->second;
}

}  // namespace tessera::tool
