// Reads Linux's folder of a processor's caches (Documentation/ABI/testing/sysfs-devices-system-cpu of its sources).
#include "tools/peaks/cpu_caches.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace tessera::tool {

namespace {

template <class T>
T first_of(const std::filesystem::path& file, T otherwise) {
  std::ifstream stream(file);
  T value{};
  return stream >> value ? value : otherwise;
}

/// "32768K"
std::uint64_t size_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::uint64_t size = 0;
  char unit = 0;
  if (!(stream >> size)) return 0;
  if (stream >> unit) size <<= unit == 'K' ? 10U : unit == 'M' ? 20U : 0U;
  return size;
}

}  // namespace

std::uint32_t count_of_ranges(const std::string& list) {
  std::uint32_t count = 0;
  std::istringstream stream(list);
  for (std::string range; std::getline(stream, range, ',');) {
    std::istringstream ends(range);
    std::uint32_t first = 0, last = 0;
    char dash = 0;
    if (!(ends >> first)) continue;
    count += ends >> dash >> last && last >= first ? last - first + 1 : 1;
  }
  return count;
}

std::vector<CpuCache> cpu_caches() {
  return cpu_caches("/sys/devices/system/cpu/cpu0/cache");
}

std::vector<CpuCache> cpu_caches(const std::filesystem::path& folder) {
  std::vector<CpuCache> caches;
  for (int index = 0;; ++index) {
    const std::filesystem::path cache = folder / fmt::format("index{}", index);
    const std::string type = first_of<std::string>(cache / "type", "");
    if (type.empty()) break;
    if (type != "Data" && type != "Unified") continue;
    const CpuCache one{.level = first_of<int>(cache / "level", 0),
                       .size_bytes = size_in(cache / "size"),
                       .threads = std::max(count_of_ranges(first_of<std::string>(cache / "shared_cpu_list", "")), 1U)};
    if (one.level > 0 && one.size_bytes > 0) caches.push_back(one);
  }
  std::sort(caches.begin(), caches.end(), [](const CpuCache& a, const CpuCache& b) { return a.level < b.level; });
  return caches;
}

}  // namespace tessera::tool
