// Reads /proc and the control groups. Whatever is missing leaves its fact at the value that limits nothing.
#include "cpu_tbb_machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/sentence.h"

namespace tessera::cpu_tbb {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The text behind "key   :" in a file of such lines, "" if there is none.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? std::string() : line.substr(first);
  }
  return {};
}

std::uint64_t meminfo_bytes(std::string_view key) {
  std::uint64_t kibibytes = 0;
  std::istringstream(field_of("/proc/meminfo", key)) >> kibibytes;
  return kibibytes * 1024;
}

std::string vendor_name(const std::string& vendor_id) {
  if (vendor_id == "AuthenticAMD") return "AMD";
  if (vendor_id == "GenuineIntel") return "Intel";
  return vendor_id;
}

int processors_allowed() {
  // The mask is longer than cpu_set_t on machines with more than 1024 processors.
  for (std::size_t count = CPU_SETSIZE; count <= std::size_t{1} << 20; count *= 2) {
    std::vector<cpu_set_t> mask(count / CPU_SETSIZE);
    const std::size_t size_bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, size_bytes, mask.data()) == 0) return std::max(1, CPU_COUNT_S(size_bytes, mask.data()));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// The limits of this process's control groups, version 1 or 2, the tightest from its own group up to the root.
struct GroupLimits {
  double processors = std::numeric_limits<double>::infinity();
  std::uint64_t memory_bytes = kNoLimit;

  void apply_quota(double quota, double period) {
    if (quota > 0 && period > 0) processors = std::min(processors, quota / period);
  }
  void read_version_2(const std::string& folder) {
    double quota = 0;
    double period = 0;
    if (std::ifstream(folder + "/cpu.max") >> quota >> period) apply_quota(quota, period);
    std::uint64_t limit = 0;
    if (std::ifstream(folder + "/memory.max") >> limit) memory_bytes = std::min(memory_bytes, limit);
  }
  void read_version_1_cpu(const std::string& folder) {
    double quota = 0;
    double period = 0;
    if (std::ifstream(folder + "/cpu.cfs_quota_us") >> quota && std::ifstream(folder + "/cpu.cfs_period_us") >> period)
      apply_quota(quota, period);
  }
  void read_version_1_memory(const std::string& folder) {
    std::uint64_t limit = 0;
    if (std::ifstream(folder + "/memory.limit_in_bytes") >> limit) memory_bytes = std::min(memory_bytes, limit);
  }
};

template <class Read>
void for_each_ancestor(const std::string& mount, std::string path, Read&& read) {
  while (!path.empty() && path != "/") {
    read(mount + path);
    path.resize(path.rfind('/'));
  }
  read(mount);
}

GroupLimits group_limits() {
  GroupLimits limits;
  std::ifstream groups("/proc/self/cgroup");  // lines "4:cpu,cpuacct:/path"; version 2 is "0::/path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string path = line.substr(second + 1);
    const std::string controllers = backend::sentence(",", line.substr(first + 1, second - first - 1), ",");
    if (controllers == ",,")
      for_each_ancestor("/sys/fs/cgroup", path, [&](const std::string& folder) { limits.read_version_2(folder); });
    if (controllers.find(",cpu,") != std::string::npos)
      for_each_ancestor("/sys/fs/cgroup/cpu", path, [&](const auto& folder) { limits.read_version_1_cpu(folder); });
    if (controllers.find(",memory,") != std::string::npos)
      for_each_ancestor("/sys/fs/cgroup/memory", path,
                        [&](const auto& folder) { limits.read_version_1_memory(folder); });
  }
  return limits;
}

/// The system lists a processor's caches from the first level on: "32768K".
std::uint64_t last_cache_bytes() {
  std::uint64_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file(backend::sentence("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
    std::uint64_t size = 0;
    char unit = 0;
    if (!(file >> size)) return largest;
    if (file >> unit) size <<= unit == 'K' ? 10U : unit == 'M' ? 20U : 0U;
    largest = std::max(largest, size);
  }
}

double smallest_clock_step_s() {
  using Clock = std::chrono::steady_clock;
  auto smallest = Clock::duration::max();
  for (int sample = 0; sample < 32; ++sample) {
    const auto start = Clock::now();
    auto now = start;
    while (now == start) now = Clock::now();
    smallest = std::min(smallest, now - start);
  }
  return std::chrono::duration<double>(smallest).count();
}

}  // namespace

Machine describe_machine() {
  const GroupLimits limits = group_limits();
  Machine machine;
  machine.cpu_name = field_of("/proc/cpuinfo", "model name");
  if (machine.cpu_name.empty()) machine.cpu_name = field_of("/proc/cpuinfo", "Model");
  if (machine.cpu_name.empty()) machine.cpu_name = "CPU";
  machine.cpu_vendor = vendor_name(field_of("/proc/cpuinfo", "vendor_id"));

  std::uint64_t physical = meminfo_bytes("MemTotal");
  if (physical == 0) {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    physical = pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes)
                                           : kNoLimit;
  }
  machine.memory_total_bytes = std::min(physical, limits.memory_bytes);

  machine.cache_bytes = last_cache_bytes();
  const double quota = std::ceil(limits.processors);
  machine.threads = processors_allowed();
  if (quota < machine.threads) machine.threads = std::max(1, static_cast<int>(quota));
  machine.timer_resolution_s = smallest_clock_step_s();
  return machine;
}

std::uint64_t memory_available_bytes() {
  return meminfo_bytes("MemAvailable");
}

std::int64_t second_level_cache_bytes() {
  static const std::int64_t size_bytes = [] {
    std::int64_t found = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    found = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return found > 0 ? found : std::int64_t{1} << 20;
  }();
  return size_bytes;
}

std::int64_t last_level_cache_bytes() {
  static const std::int64_t size_bytes = [] {
    const auto found = static_cast<std::int64_t>(last_cache_bytes());
    return found > 0 ? found : std::int64_t{8} << 20;
  }();
  return size_bytes;
}

}  // namespace tessera::cpu_tbb
