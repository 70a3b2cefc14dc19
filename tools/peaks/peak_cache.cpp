// The peaks as JSON, kept under everything that they depend on.
#include "tools/peaks/peak_cache.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/input/json_reading.h"

namespace tessera::tool {

namespace {

/// Raised when the peak kernels change, so that older figures are measured again.
constexpr int kPeakMethod = 2;
constexpr const char* kFolder = "peaks";

/// The parts of a stored record that tell of its peaks.
struct Stored {
  const Json& peaks;
  Json reasons;
  Json times;
};

Json object_or_empty(const Json& from, const char* name) {
  const Json* const object = object_of(from, name);
  return object == nullptr ? Json::object() : *object;
}

/// A number that can be a peak, or the reason why there is none; or neither, of what is no record of peaks.
Peak read_peak(const Json& from, const char* field, const Stored& stored, const std::string& name) {
  const auto found = from.find(field);
  if (found == from.end()) return {};
  Peak peak;
  if (found->is_number() && found->get<double>() > 0) peak.value = found->get<double>();
  if (found->is_null()) peak.reason = text_of(stored.reasons, name.c_str()).value_or("");
  constexpr double kMost = 1e6;
  peak.times_measured = static_cast<int>(std::clamp(number_of(stored.times, name.c_str()).value_or(1), 1.0, kMost));
  return peak;
}

bool is_told(const Peak& peak) {
  return peak.value || !peak.reason.empty();
}

/// Nothing if one of the levels is no level.
std::optional<std::vector<ReadPeak>> read_levels(const Stored& stored) {
  const Json* const list = list_of(stored.peaks, "reads");
  if (list == nullptr || list->empty()) return std::nullopt;
  std::vector<ReadPeak> levels;
  for (const Json& entry : *list) {
    const std::optional<std::string> level = entry.is_object() ? text_of(entry, "level") : std::nullopt;
    if (!level) return std::nullopt;
    const double capacity = number_of(entry, "capacity_bytes").value_or(0);
    if (!(capacity >= 0 && capacity < 1e15)) return std::nullopt;
    levels.push_back({.level = *level,
                      .capacity_bytes = static_cast<std::uint64_t>(capacity),
                      .gbytes_per_s = read_peak(entry, "gbytes_per_s", stored, *level)});
    if (!is_told(levels.back().gbytes_per_s)) return std::nullopt;
  }
  return levels;
}

}  // namespace

PeakCache::PeakCache(const Device& device) : PeakCache(device.info(), device.id()) {}

PeakCache::PeakCache(const DeviceInfo& info, const std::string& device_id) {
  const Json key{{"method", kPeakMethod},
                 {"device", device_id},
                 {"name", info.name},
                 {"uuid", info.uuid},
                 {"driver", info.driver},
                 {"driver_version", info.driver_version},
                 {"compute_units", info.compute_units},
                 {"has_float64", info.has_float64},
                 {"library", version()}};
  key_ = key.dump(-1, ' ', false, Json::error_handler_t::replace);
  has_float64_ = info.has_float64;
}

std::optional<Peaks> PeakCache::find() const {
  const std::optional<std::string> text = find_in_cache(kFolder, key_);
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const Stored stored{json, object_or_empty(json, "unknown_because"), object_or_empty(json, "times_measured")};
  const auto peak = [&](const char* name) { return read_peak(json, name, stored, name); };
  const std::optional<std::vector<ReadPeak>> levels = read_levels(stored);
  if (!levels) return std::nullopt;
  const Peaks peaks{.fma_float32_gflops = peak("fma_float32_gflops"),
                    .fma_float64_gflops = peak("fma_float64_gflops"),
                    .fma_int32_gflops = peak("fma_int32_gflops"),
                    .dot_int8_gflops = peak("dot_int8_gflops"),
                    .copy_gbytes_per_s = peak("copy_gbytes_per_s"),
                    .reads = *levels};
  if (!is_whole(peaks) || !is_told(peaks.fma_float64_gflops) || !is_told(peaks.dot_int8_gflops)) return std::nullopt;
  return peaks;
}

/// What could not be measured may become measurable (a missing compiler is installed), so only whole results stay. What
/// a device or its language lacks stays too.
bool PeakCache::is_whole(const Peaks& peaks) const {
  return peaks.fma_float32_gflops.value && peaks.fma_int32_gflops.value && peaks.copy_gbytes_per_s.value &&
         (peaks.fma_float64_gflops.value || !has_float64_) && !peaks.reads.empty() &&
         peaks.reads.back().gbytes_per_s.value;
}

void PeakCache::store(const Peaks& peaks) const {
  if (!is_whole(peaks)) return;
  store_in_cache(kFolder, key_, to_json(peaks).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tessera::tool
