// Measured peaks on disk, so that a machine is measured once. A file that is damaged, or about anything else than this
// device with this driver and library, is ignored.
#pragma once

#include <filesystem>
#include <optional>

#include <tessera/tessera.h>

#include "tools/peaks.h"

namespace tessera::tool {

class PeakCache {
 public:
  explicit PeakCache(const Device& device);
  /// For tests: the facts and the folder given.
  PeakCache(const DeviceInfo& info, const std::string& device_id, const std::filesystem::path& folder);

  /// What was stored for exactly this device, or nothing.
  [[nodiscard]] std::optional<Peaks> find() const;
  /// Failure to write costs only time, so it is silent.
  void store(const Peaks& peaks) const noexcept;
  /// Empty if there is no cache folder.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  Json key_;
  std::filesystem::path path_;
};

}  // namespace tessera::tool
