// The caches of the host's processor, as the system tells of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::tool {

struct CpuCache {
  int level = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t threads = 1;  ///< hardware threads that share one
};

/// Those that hold data, the first level first; empty where the system does not tell.
[[nodiscard]] std::vector<CpuCache> cpu_caches();
/// For tests: as the folder says, which is like Linux's of one processor's caches.
[[nodiscard]] std::vector<CpuCache> cpu_caches(const std::filesystem::path& folder);

/// How many numbers a list of ranges names: 6 in "0-3,8,12".
[[nodiscard]] std::uint32_t count_of_ranges(const std::string& list);

}  // namespace tessera::tool
