// One JSON file a device: the key in full, so that a hash that two devices share does no harm, and the peaks.
#include "tools/peak_cache.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// Raised when the peak kernels change, so that older figures are measured again.
constexpr int kPeakMethod = 1;

/// FNV-1a: stable between machines and library versions, which std::hash is not.
std::uint64_t stable_hash(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  return hash;
}

/// A number that can be a peak, or nothing.
Peak read_peak(const Json& peaks, const char* name) {
  const auto found = peaks.find(name);
  if (found == peaks.end() || !found->is_number() || !(found->get<double>() > 0)) return {};
  return {found->get<double>(), ""};
}

}  // namespace

PeakCache::PeakCache(const Device& device)
    : PeakCache(device.info(), device.id(),
                cache_directory().empty() ? std::filesystem::path() : cache_directory() / "peaks") {}

PeakCache::PeakCache(const DeviceInfo& info, const std::string& device_id, const std::filesystem::path& folder)
    : key_({{"method", kPeakMethod},
            {"device", device_id},
            {"name", info.name},
            {"uuid", info.uuid},
            {"driver", info.driver},
            {"driver_version", info.driver_version},
            {"compute_units", info.compute_units},
            {"has_float64", info.has_float64},
            {"library", version()}}) {
  if (folder.empty()) return;
  const std::string text = key_.dump(-1, ' ', false, Json::error_handler_t::replace);
  path_ = folder / fmt::format("{:016x}.json", stable_hash(text));
}

std::optional<Peaks> PeakCache::find() const {
  if (path_.empty()) return std::nullopt;
  std::ifstream file(path_);
  if (!file) return std::nullopt;
  const Json content = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || content.value("key", Json()) != key_) return std::nullopt;
  const Json stored = content.value("peaks", Json());
  if (!stored.is_object()) return std::nullopt;
  Peaks peaks;
  peaks.fma_float32_gflops = read_peak(stored, "fma_float32_gflops");
  peaks.fma_float64_gflops = read_peak(stored, "fma_float64_gflops");
  peaks.copy_gbytes_per_s = read_peak(stored, "copy_gbytes_per_s");
  if (!peaks.fma_float32_gflops.value || !peaks.copy_gbytes_per_s.value) return std::nullopt;
  if (!peaks.fma_float64_gflops.value) {
    if (key_["has_float64"].get<bool>()) return std::nullopt;
    peaks.fma_float64_gflops.reason = "the device has no float64";
  }
  return peaks;
}

void PeakCache::store(const Peaks& peaks) const noexcept {
  if (path_.empty()) return;
  try {
    std::filesystem::create_directories(path_.parent_path());
    std::filesystem::path partial = path_;
    partial += fmt::format(".{}.partial", getpid());
    {
      std::ofstream file(partial, std::ios::trunc);
      const Json content = {{"key", key_}, {"peaks", to_json(peaks)}};
      file << content.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
      if (!file) return;
    }
    std::filesystem::rename(partial, path_);
  } catch (const std::exception&) {
    // A full or read-only disk: the peaks are measured again next time.
  }
}

}  // namespace tessera::tool
