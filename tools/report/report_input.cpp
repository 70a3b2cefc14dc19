// Fields of result files become fields of the page. A file may come from anywhere.
#include "tools/report/report_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tessera/tessera.h>

#include "tools/bench/hardware.h"
#include "tools/output/table.h"

namespace tessera::tool {

namespace {

/// A page with more could not be scrolled; the largest study so far has 1,700.
constexpr std::size_t kMostRecords = 20000;
constexpr std::size_t kMostLetters = 200;
/// No processor has more caches one behind the other.
constexpr std::size_t kMostLevels = 8;

/// At most so many bytes, and never half a letter of several.
std::string shortened(std::string text) {
  if (text.size() <= kMostLetters) return text;
  std::size_t end = kMostLetters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::string words(const Json& object, const char* name) {
  return shortened(text_of(object, name).value_or(""));
}

double positive(const Json& object, const char* name) {
  const double number = number_of(object, name).value_or(kNoNumber);
  return number > 0 ? number : kNoNumber;
}

std::string tuning_words(const Json& record) {
  std::string text;
  if (const Json* const tuning = object_of(record, "tuning")) {
    for (const auto& [name, value] : tuning->items()) {
      if (value.is_number_integer())
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value.get<std::int64_t>());
    }
  }
  return shortened(std::move(text));
}

ReportDevice device_of(const Json& json) {
  ReportDevice device{.id = words(json, "asked_as"), .name = words(json, "name"), .facts = {}, .reads = {}};
  if (device.id.empty()) device.id = words(json, "id");
  std::vector<std::string> facts;
  if (const std::string driver = words(json, "driver"); !driver.empty())
    facts.push_back(fmt::format("{} {}", driver, words(json, "driver_version")));
  if (std::string set = words(json, "instruction_set"); !set.empty()) facts.push_back(std::move(set));
  if (const double units = positive(json, "compute_units"); units > 0)
    facts.push_back(fmt::format("{:.0f} compute units", units));
  if (const double bytes = positive(json, "memory_total_bytes"); bytes > 0)
    facts.push_back(fmt::format("{:.1f} GiB", bytes / (1U << 30U)));
  device.facts = fmt::format("{}", fmt::join(facts, ", "));
  if (const Json* const peaks = object_of(json, "peaks")) {
    device.float32_gflops = positive(*peaks, "fma_float32_gflops");
    device.float64_gflops = positive(*peaks, "fma_float64_gflops");
    device.int32_gflops = positive(*peaks, "fma_int32_gflops");
    device.dot_int8_gflops = positive(*peaks, "dot_int8_gflops");
    device.copy_gbytes_per_s = positive(*peaks, "copy_gbytes_per_s");
    if (const Json* const reads = list_of(*peaks, "reads")) {
      for (std::size_t i = 0; i < std::min(reads->size(), kMostLevels); ++i) {
        const ReportRead read{.level = words((*reads)[i], "level"),
                              .gbytes_per_s = positive((*reads)[i], "gbytes_per_s")};
        if (!read.level.empty() && !std::isnan(read.gbytes_per_s)) device.reads.push_back(read);
      }
    }
  }
  return device;
}

ReportRecord record_of(const Json& json) {
  ReportRecord record{.operator_name = words(json, "operator"),
                      .device = words(json, "device"),
                      .variant = words(json, "variant"),
                      .problem = words(json, "case"),
                      .type = words(json, "type"),
                      .tuning = tuning_words(json),
                      .status = words(json, "status"),
                      .reason = words(json, "reason"),
                      .hardware = {}};
  if (const Json* const hardware = object_of(json, "hardware")) record.hardware = shortened(hardware_words(*hardware));
  const auto cold = json.find("cold");
  record.is_cold = cold != json.end() && cold->is_boolean() && cold->get<bool>();
  record.is_random = text_of(json, "class").has_value();
  // Studies measure a problem in several parts, which its name ends with.
  if (const std::string part = words(json, "part"); !part.empty() && record.problem.ends_with("_" + part))
    record.problem.resize(record.problem.size() - part.size() - 1);
  const auto is_default = json.find("is_default");
  record.is_default = is_default != json.end() && is_default->is_boolean() && is_default->get<bool>();
  if (const Json* const time = object_of(json, "device_time_s")) {
    record.median_s = positive(*time, "median");
    record.spread = number_of(*time, "spread").value_or(kNoNumber);
  }
  record.others_share = std::min(positive(json, "others_share"), 1.0);
  if (const Json* const time = object_of(json, "wall_time_s")) record.wall_s = positive(*time, "median");
  record.gflops = positive(json, "gflops");
  record.gbytes_per_s = positive(json, "gbytes_per_s");
  record.peak_share = positive(json, "peak_share");
  if (const Json* const error = object_of(json, "error")) {
    record.error = number_of(*error, "worst").value_or(kNoNumber);
    record.bound = positive(*error, "bound");
  }
  return record;
}

ReportThreads threads_of(const Json& json) {
  ReportThreads threads{.operator_name = words(json, "operator"),
                        .device = words(json, "device"),
                        .variant = words(json, "variant"),
                        .problem = words(json, "case"),
                        .speed_up = {}};
  if (const Json* const speed_up = object_of(json, "speed_up")) {
    for (const auto& [count, value] : speed_up->items()) {
      int number = 0;
      const auto [end, failed] = std::from_chars(count.data(), count.data() + count.size(), number);
      if (failed == std::errc() && end == count.data() + count.size() && number > 0 && value.is_number())
        threads.speed_up.emplace_back(number, value.get<double>());
    }
    std::sort(threads.speed_up.begin(), threads.speed_up.end());
  }
  return threads;
}

/// Nothing without a time: a ratio would be no number.
std::optional<Timed> timed_of(const Json& problem, const char* name) {
  const Json* const timed = object_of(problem, name);
  if (timed == nullptr || !(positive(*timed, "seconds") > 0)) return std::nullopt;
  return Timed{words(*timed, "variant"), positive(*timed, "seconds")};
}

RandomGroup random_of(const Json& json) {
  RandomGroup group{.operator_name = words(json, "operator"),
                    .device = words(json, "device"),
                    .of_class = words(json, "class"),
                    .problems = {}};
  const Json* const problems = list_of(json, "problems");
  for (std::size_t i = 0; problems != nullptr && i < std::min(problems->size(), kMostRecords); ++i) {
    const auto chosen = timed_of((*problems)[i], "default"), own = timed_of((*problems)[i], "best_own");
    if (!chosen || !own) continue;
    group.problems.push_back({.of_class = group.of_class,
                              .number = i,
                              .problem = words((*problems)[i], "problem"),
                              .case_name = words((*problems)[i], "case"),
                              .chosen = *chosen,
                              .best_own = *own,
                              .best_vendor = timed_of((*problems)[i], "best_vendor")});
  }
  return group;
}

double part_of(const Json& transfer, const char* name) {
  const Json* const part = object_of(transfer, name);
  const Json* const time = part == nullptr ? nullptr : object_of(*part, "wall_time_s");
  return time == nullptr ? 0 : std::max(0.0, number_of(*time, "median").value_or(0));
}

}  // namespace

const ReportDevice* ReportInput::find_device(const std::string& id) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& device) { return device.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

ReportInput read_report_input(const std::string& path) {
  return report_input_of(read_json_file(path, "the result"), path);
}

ReportInput report_input_of(const Json& result, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the result '{}' {}", path, why));
  };
  if (text_of(result, "tool") != "tessera bench") refuse("is none of `tessera bench`");
  const Json* const records = list_of(result, "records");
  if (records == nullptr) {
    refuse("has no list of records");
  } else if (records->size() > kMostRecords) {
    refuse(fmt::format("has {} records, but a page holds up to {}", records->size(), kMostRecords));
  }

  ReportInput input;
  input.name = shortened(std::filesystem::path(path).filename().string());
  input.date = words(result, "date");
  input.note = words(result, "note");
  if (const Json* const library = object_of(result, "library"))
    input.library = fmt::format("tessera {} ({})", words(*library, "version"), words(*library, "commit"));
  if (const Json* const machine = object_of(result, "machine"))
    input.machine = fmt::format("{}, {:.0f} threads, {}", words(*machine, "cpu"),
                                number_of(*machine, "threads").value_or(0), words(*machine, "os"));
  for (const Json& record : *records) {
    if (record.is_object()) input.records.push_back(record_of(record));
  }
  const auto each = [&](const char* name, const auto& use) {
    if (const Json* const list = list_of(result, name)) {
      for (std::size_t i = 0; i < std::min(list->size(), kMostRecords); ++i) use((*list)[i]);
    }
  };
  each("devices", [&](const Json& device) { input.devices.push_back(device_of(device)); });
  each("threads", [&](const Json& row) { input.threads.push_back(threads_of(row)); });
  each("studies", [&](const Json& study) {
    const Json* const threads = list_of(study, "threads");
    if (threads == nullptr) return;
    for (const Json& row : *threads) {
      input.threads.push_back(threads_of(row));
      // Files of older versions say it once for the study.
      if (!text_of(row, "operator")) input.threads.back().operator_name = words(study, "operator");
    }
  });
  each("transfers", [&](const Json& transfer) {
    if (text_of(transfer, "status") != "verified") return;
    input.transfers.push_back({.operator_name = words(transfer, "operator"),
                               .device = words(transfer, "device"),
                               .problem = words(transfer, "label"),
                               .host_memory = words(transfer, "host_memory"),
                               .upload_s = part_of(transfer, "upload"),
                               .compute_s = part_of(transfer, "compute"),
                               .download_s = part_of(transfer, "download"),
                               .upload_gbytes_per_s = positive(transfer, "upload_gbytes_per_s"),
                               .download_gbytes_per_s = positive(transfer, "download_gbytes_per_s")});
  });
  each("random", [&](const Json& group) { input.random.push_back(random_of(group)); });
  each("missing_peers", [&](const Json& peer) {
    const std::string remedy = words(peer, "remedy");
    input.missing_peers.push_back(
        fmt::format("{}: {}", words(peer, "variant"), remedy.empty() ? words(peer, "reason") : remedy));
  });
  return input;
}

}  // namespace tessera::tool
