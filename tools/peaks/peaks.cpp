// Peaks and shares of them.
#include "tools/peaks/peaks.h"

#include <algorithm>

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

void raise(Peak& known, const Peak& other) {
  if (other.value && (!known.value || *other.value > *known.value)) known = other;
}

}  // namespace

Peaks unknown_peaks(const std::string& reason) {
  const Peak unknown{.value = std::nullopt, .reason = reason};
  return {unknown, unknown, unknown, unknown, unknown, {}};
}

Peaks measure_peaks(const Device& device) {
  const DeviceInfo info = device.info();
  Peaks peaks;
  peaks.fma_float32_gflops = fma_peak(device, info, DataType::float32);
  peaks.fma_float64_gflops = fma_peak(device, info, DataType::float64);
  peaks.fma_int32_gflops = fma_peak(device, info, DataType::int32);
  peaks.dot_int8_gflops = dot_peak(device, info);
  peaks.copy_gbytes_per_s = copy_peak(device, info);
  peaks.reads = read_peaks(device, info);
  return peaks;
}

Peaks higher_of(Peaks known, const Peaks& other) {
  raise(known.fma_float32_gflops, other.fma_float32_gflops);
  raise(known.fma_float64_gflops, other.fma_float64_gflops);
  raise(known.fma_int32_gflops, other.fma_int32_gflops);
  raise(known.dot_int8_gflops, other.dot_int8_gflops);
  raise(known.copy_gbytes_per_s, other.copy_gbytes_per_s);
  for (const ReadPeak& read : other.reads) {
    const auto same = std::find_if(known.reads.begin(), known.reads.end(),
                                   [&](const ReadPeak& one) { return one.level == read.level; });
    if (same != known.reads.end()) raise(same->gbytes_per_s, read.gbytes_per_s);
  }
  known.times_measured += other.times_measured;
  return known;
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

Peaks raise_peaks(const Device& device, const Peaks& known) {
  const Peaks peaks = higher_of(known, measure_peaks(device));
  PeakCache(device).store(peaks);
  return peaks;
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
  const auto add = [&](const char* name, const Peak& peak) {
    result[name] = peak.value ? Json(*peak.value) : Json();
    if (!peak.value) reasons[name] = peak.reason;
  };
  add("fma_float32_gflops", peaks.fma_float32_gflops);
  add("fma_float64_gflops", peaks.fma_float64_gflops);
  add("fma_int32_gflops", peaks.fma_int32_gflops);
  add("dot_int8_gflops", peaks.dot_int8_gflops);
  add("copy_gbytes_per_s", peaks.copy_gbytes_per_s);
  result["reads"] = Json::array();
  for (const ReadPeak& read : peaks.reads) {
    result["reads"].push_back({{"level", read.level},
                               {"capacity_bytes", read.capacity_bytes > 0 ? Json(read.capacity_bytes) : Json()},
                               {"gbytes_per_s", read.gbytes_per_s.value ? Json(*read.gbytes_per_s.value) : Json()}});
    if (!read.gbytes_per_s.value) reasons["read_" + read.level] = read.gbytes_per_s.reason;
  }
  result["times_measured"] = peaks.times_measured;
  if (!reasons.empty()) result["unknown_because"] = reasons;
  return result;
}

}  // namespace tessera::tool
