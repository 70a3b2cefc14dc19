// The peaks as JSON, kept under everything that they depend on.
#include "tools/peaks/peak_cache.h"

namespace tessera::tool {

namespace {

/// Raised when the peak kernels change, so that older figures are measured again.
constexpr int kPeakMethod = 1;
constexpr const char* kFolder = "peaks";

/// A number that can be a peak, or nothing.
Peak read_peak(const Json& peaks, const char* name) {
  const auto found = peaks.find(name);
  if (found == peaks.end() || !found->is_number() || !(found->get<double>() > 0)) return {};
  return {found->get<double>(), ""};
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
  const Json stored = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!stored.is_object()) return std::nullopt;
  Peaks peaks;
  peaks.fma_float32_gflops = read_peak(stored, "fma_float32_gflops");
  peaks.fma_float64_gflops = read_peak(stored, "fma_float64_gflops");
  peaks.copy_gbytes_per_s = read_peak(stored, "copy_gbytes_per_s");
  if (!peaks.fma_float32_gflops.value || !peaks.copy_gbytes_per_s.value) return std::nullopt;
  if (!peaks.fma_float64_gflops.value) {
    if (has_float64_) return std::nullopt;
    peaks.fma_float64_gflops.reason = "the device has no float64";
  }
  return peaks;
}

void PeakCache::store(const Peaks& peaks) const {
  store_in_cache(kFolder, key_, to_json(peaks).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tessera::tool
