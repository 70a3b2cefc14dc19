// Measured times of kernels, kept on disk between processes, so that explain() can report them.
#include "measured_times.h"

#include <tessera/version.h>

#include <cmath>
#include <cstring>
#include <span>

#include "backend/disk_cache.h"
#include "backend/sentence.h"

namespace tessera::detail {
namespace {

const backend::DiskCache& cache() {
  static const backend::DiskCache instance("times");
  return instance;
}

}  // namespace

std::string measured_time_key(std::string_view operator_name, const std::string& problem, const DeviceInfo& device,
                              const std::string& variant, const Tuning& tuning) {
  std::string key = backend::sentence(operator_name, "|", problem, "|", variant);
  for (const auto& [name, value] : tuning) key += backend::sentence("|", name, "=", value);
  return key + backend::sentence("|", device.backend, "|", device.name, "|", device.compute_units, "|",
                                 device.driver_version, "|", version());
}

void store_time(const std::string& key, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) {
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("the measured time is ", seconds, " s, but must be a finite number from 0 up"));
  }
  cache().store(key, std::as_bytes(std::span(&seconds, 1)));
}

std::optional<double> find_time(const std::string& key) {
  const auto bytes = cache().find(key);
  if (!bytes || bytes->size() != sizeof(double)) return std::nullopt;
  double seconds = 0;
  std::memcpy(&seconds, bytes->data(), sizeof seconds);
  if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
  return seconds;
}

}  // namespace tessera::detail
