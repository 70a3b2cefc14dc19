// Peaks and shares of them.
#include "tools/peaks/peaks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/peaks/arithmetic_peaks.h"
#include "tools/peaks/memory_peaks.h"
#include "tools/peaks/peak_cache.h"

namespace tessera::tool {

namespace {

/// Of data of twice its size a cache may still serve half; of more, so little that the next level's rate is the bound.
constexpr double kServedByACache = 2;
/// Where no cache is known, operands of this size are beyond all of them.
constexpr double kBeyondCaches = 512.0 * (1 << 20);

struct Ceiling {
  double value = 0;
  const char* name = "";
};

std::optional<Ceiling> arithmetic_ceiling(const Peaks& peaks, const WorkRate& rate) {
  const auto known = [](const Peak& peak, const char* name) {
    return peak.value ? std::optional(Ceiling{*peak.value, name}) : std::nullopt;
  };
  switch (rate.type) {
    case DataType::float32: return known(peaks.fma_float32_gflops, "fma_float32_gflops");
    case DataType::float64: return known(peaks.fma_float64_gflops, "fma_float64_gflops");
    case DataType::int32:
    case DataType::uint32: return known(peaks.fma_int32_gflops, "fma_int32_gflops");
    case DataType::int8:
    case DataType::uint8:
    case DataType::int16:
    case DataType::uint16:
      if (rate.kind == DeviceKind::cpu) return known(peaks.dot_int8_gflops, "dot_int8_gflops");
      return std::nullopt;
    case DataType::int64:
    case DataType::uint64: return std::nullopt;
  }
  return std::nullopt;
}

struct MemoryCeiling {
  double value = 0;
  std::string name;
};

std::optional<MemoryCeiling> memory_ceiling(const Peaks& peaks, double bytes) {
  MemoryCeiling highest;
  if (peaks.copy_gbytes_per_s.value) highest = {*peaks.copy_gbytes_per_s.value, "copy_gbytes_per_s"};
  bool has_caches = false;
  for (const ReadPeak& read : peaks.reads) {
    const bool is_cache = read.capacity_bytes > 0;
    has_caches = has_caches || is_cache;
    if (is_cache && bytes > kServedByACache * static_cast<double>(read.capacity_bytes)) continue;
    if (!read.gbytes_per_s.value) {
      if (is_cache) return std::nullopt;
      continue;
    }
    if (*read.gbytes_per_s.value > highest.value) highest = {*read.gbytes_per_s.value, read.level};
  }
  if (!has_caches && bytes < kBeyondCaches) return std::nullopt;
  return highest.value > 0 ? std::optional(highest) : std::nullopt;
}

/// The peaks that are no reads, by their names.
struct NamedPeak {
  const char* name;
  Peak Peaks::*peak;
};
constexpr NamedPeak kNamedPeaks[] = {{"fma_float32_gflops", &Peaks::fma_float32_gflops},
                                     {"fma_float64_gflops", &Peaks::fma_float64_gflops},
                                     {"fma_int32_gflops", &Peaks::fma_int32_gflops},
                                     {"dot_int8_gflops", &Peaks::dot_int8_gflops},
                                     {"copy_gbytes_per_s", &Peaks::copy_gbytes_per_s}};

/// Nothing for a name that no peak has.
std::optional<Peak> measure_peak(const Device& device, const DeviceInfo& info, std::string_view name) {
  if (name == "fma_float32_gflops") return fma_peak(device, info, DataType::float32);
  if (name == "fma_float64_gflops") return fma_peak(device, info, DataType::float64);
  if (name == "fma_int32_gflops") return fma_peak(device, info, DataType::int32);
  if (name == "dot_int8_gflops") return dot_peak(device, info);
  if (name == "copy_gbytes_per_s") return copy_peak(device, info);
  const std::vector<ReadPeak> level = read_peaks(device, info, name);
  return level.empty() ? std::nullopt : std::optional(level.front().gbytes_per_s);
}

}  // namespace

Peaks unknown_peaks(const std::string& reason) {
  const Peak unknown{.value = std::nullopt, .reason = reason};
  return {unknown, unknown, unknown, unknown, unknown, {}};
}

Peaks measure_peaks(const Device& device) {
  const DeviceInfo info = device.info();
  Peaks peaks;
  for (const auto& [name, peak] : kNamedPeaks) peaks.*peak = *measure_peak(device, info, name);
  peaks.reads = read_peaks(device, info);
  return peaks;
}

Peak* find_peak(Peaks& peaks, std::string_view name) {
  for (const auto& [known, peak] : kNamedPeaks) {
    if (known == name) return &(peaks.*peak);
  }
  for (ReadPeak& read : peaks.reads) {
    if (read.level == name) return &read.gbytes_per_s;
  }
  return nullptr;
}

Peaks find_peaks(const Device& device, bool measure_again) {
  const PeakCache cache(device);
  if (!measure_again) {
    if (const auto cached = cache.find()) return *cached;
  }
  const Peaks peaks = measure_peaks(device);
  cache.store(peaks);
  return peaks;
}

Peaks raise_peak(const Device& device, Peaks known, std::string_view name) {
  Peak* const peak = find_peak(known, name);
  if (peak == nullptr) return known;
  const std::optional<Peak> again = measure_peak(device, device.info(), name);
  if (again && again->value && (!peak->value || *again->value > *peak->value))
    *peak = {again->value, "", peak->times_measured};
  ++peak->times_measured;
  PeakCache(device).store(known);
  return known;
}

std::optional<PeakShare> peak_share(const Peaks& peaks, const WorkRate& rate) {
  std::optional<PeakShare> found;
  if (const auto memory = memory_ceiling(peaks, rate.bytes_in_turn))
    found = PeakShare{.share = rate.gbytes_per_s / memory->value, .peak = memory->name};
  if (const auto arithmetic = arithmetic_ceiling(peaks, rate)) {
    const double share = rate.gflops / arithmetic->value;
    if (!found || share > found->share)
      found = PeakShare{.share = share, .peak = arithmetic->name, .is_arithmetic = true};
  }
  return found;
}

std::string remark_on(const PeakShare& share, const WorkRate& rate) {
  if (share.share <= 1) return {};
  const std::string times = fmt::format("{:.2f} times the peak {}: ", share.share, share.peak);
  if (!share.is_arithmetic) return times + "nearer caches served a part of the operands";
  const std::string fewer = times + "fewer operations were done than are counted";
  if (rate.kind != DeviceKind::cpu) return fewer + ", or tensor instructions did them";
  const bool is_floating = rate.type == DataType::float32 || rate.type == DataType::float64;
  return is_floating ? fewer : fewer + ", or instructions for shorter numbers did them";
}

Json to_json(const Peaks& peaks) {
  Json result = Json::object();
  Json reasons = Json::object();
  Json times = Json::object();
  const auto value_of = [&](const std::string& name, const Peak& peak) {
    if (!peak.value) reasons[name] = peak.reason;
    if (peak.times_measured > 1) times[name] = peak.times_measured;
    return peak.value ? Json(*peak.value) : Json();
  };
  for (const auto& [name, peak] : kNamedPeaks) result[name] = value_of(name, peaks.*peak);
  result["reads"] = Json::array();
  for (const ReadPeak& read : peaks.reads) {
    result["reads"].push_back({{"level", read.level},
                               {"capacity_bytes", read.capacity_bytes > 0 ? Json(read.capacity_bytes) : Json()},
                               {"gbytes_per_s", value_of(read.level, read.gbytes_per_s)}});
  }
  if (!times.empty()) result["times_measured"] = times;
  if (!reasons.empty()) result["unknown_because"] = reasons;
  return result;
}

}  // namespace tessera::tool
