// The poison around huge outputs, and which devices have the memory for them.
#include "conformance/huge_output.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace tessera::conformance {

namespace {

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

std::vector<Stretch> guards_around(std::size_t elements) {
  const std::vector<std::optional<Expected>> nothing(kHugeGuard);
  return {{0, nothing}, {elements + kHugeGuard, nothing}};
}

std::string why_too_large(const Device& device, std::initializer_list<std::uint64_t> bytes) {
  const DeviceInfo info = device.info();
  const std::uint64_t needed = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  const std::uint64_t largest = std::max(bytes);
  // To the driver the library's cached memory counts as taken, but the library gives it back when it is needed.
  const std::uint64_t there =
      info.memory_free_bytes != 0 ? info.memory_free_bytes + device.memory().cached_bytes : info.memory_total_bytes;
  if (info.kind == DeviceKind::cpu) return "the case takes " + gibibytes(needed) + " of a host's memory: GPUs only";
  if (needed + needed / 8 > there)
    return "the case needs " + gibibytes(needed) + ", but " + gibibytes(there) + " are free";
  if (info.max_allocation_bytes != 0 && largest > info.max_allocation_bytes) {
    return "the case needs one buffer of " + gibibytes(largest) + ", but the device's limit is " +
           gibibytes(info.max_allocation_bytes);
  }
  return "";
}

}  // namespace tessera::conformance
