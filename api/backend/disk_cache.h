// The cache on disk: compiled programs and measured peaks, keyed by everything that they depend on. A file that is
// damaged, foreign or from another version is removed, never trusted; so is one that another user could have written.
// A full or read-only disk only costs time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/cache.h>
#include <tessera/export.h>

namespace tessera::backend {

/// A folder of the cache: `DiskCache("opencl")`.
class TESSERA_API DiskCache {
 public:
  /// Error invalid_argument if `folder` is not one name.
  explicit DiskCache(std::string folder);

  /// What was stored under exactly this key, or nothing. The key is compared whole, not by its hash.
  [[nodiscard]] std::optional<std::vector<std::byte>> find(std::string_view key) const;
  /// Writes to a temporary file and renames it, so that readers see all of it or none. Failure to write is silent, and
  /// so is a folder that another user could write, or that is a link: nothing is kept there.
  void store(std::string_view key, std::span<const std::byte> value) const noexcept;

  /// Where the key's file is.
  [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;

 private:
  std::string folder_;
};

}  // namespace tessera::backend
