// Measured peaks in the library's cache, so that a machine is measured once. What is about anything else than this
// device with this driver and library is ignored.
#pragma once

#include <optional>
#include <string>

#include <tessera/tessera.h>

#include "tools/peaks/peaks.h"

namespace tessera::tool {

class PeakCache {
 public:
  explicit PeakCache(const Device& device);
  /// For tests: the facts given.
  PeakCache(const DeviceInfo& info, const std::string& device_id);

  /// What was stored for exactly this device, or nothing.
  [[nodiscard]] std::optional<Peaks> find() const;
  /// Nothing is stored if peaks are missing that this device has. Failure to write costs only time, so it is silent.
  void store(const Peaks& peaks) const;
  /// Everything that the peaks depend on: under this they are kept, in the folder "peaks".
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  [[nodiscard]] bool is_whole(const Peaks& peaks) const;

  std::string key_;
  bool has_float64_ = false;
};

}  // namespace tessera::tool
