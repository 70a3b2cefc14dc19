// Reads the machine's facts where Linux keeps them.
#include "tools/output/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tessera::tool {

namespace {

/// The value behind "key   : value", or nothing if the line is about something else.
bool read_value(const std::string& line, std::string_view key, std::string& value) {
  if (line.compare(0, key.size(), key) != 0) return false;
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return false;
  const std::size_t first = line.find_first_not_of(" \t", colon + 1);
  value = first == std::string::npos ? std::string() : line.substr(first);
  return true;
}

void read_processor(Machine& machine) {
  std::ifstream file("/proc/cpuinfo");
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  std::string value;
  for (std::string line; std::getline(file, line);) {
    if (machine.cpu == "unknown" && read_value(line, "model name", value)) machine.cpu = value;
    if (read_value(line, "physical id", value)) socket = value;
    if (read_value(line, "core id", value)) cores.emplace(socket, value);
  }
  machine.threads = std::thread::hardware_concurrency();
  machine.cores = cores.empty() ? machine.threads : static_cast<unsigned>(cores.size());
}

std::string operating_system() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (line.compare(0, kKey.size(), kKey) != 0) continue;
    std::string value = line.substr(kKey.size());
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return value;
  }
  return "unknown";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = "unknown";
  read_processor(machine);
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page_bytes > 0) {
    machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  machine.os = operating_system();
  utsname name{};
  machine.kernel = uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "unknown";
  return machine;
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace tessera::tool
