// Words for a device's facts.
#include "tools/output/device_facts.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

void add_fact(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("  {:<15} {}\n", name, value);
}

std::string memory_of(const DeviceInfo& info) {
  if (info.memory_total_bytes == 0) return {};
  std::string text = format_bytes(info.memory_total_bytes);
  if (info.memory_free_bytes > 0) text += fmt::format(", {} free", format_bytes(info.memory_free_bytes));
  if (info.max_allocation_bytes > 0) {
    text += fmt::format(", largest buffer {}", format_bytes(info.max_allocation_bytes));
  }
  return text + (info.unified_memory ? ", shared with the host" : "");
}

std::string groups_of(const DeviceInfo& info) {
  if (info.max_group_size == 0) return {};
  std::string text = fmt::format("up to {} work-items", info.max_group_size);
  if (info.max_group_extent[0] > 0) text += fmt::format(" ({})", fmt::join(info.max_group_extent, " x "));
  if (info.local_memory_bytes > 0) text += fmt::format(", {} of local memory", format_bytes(info.local_memory_bytes));
  return text;
}

std::string driver_of(const DeviceInfo& info) {
  std::string text = info.driver;
  if (!info.driver_version.empty()) text += (text.empty() ? "" : " ") + info.driver_version;
  if (!info.api_version.empty()) text += (text.empty() ? "" : ", ") + info.api_version;
  return text;
}

}  // namespace

std::vector<std::string> same_card_as(const DeviceInfo& info, const std::vector<DeviceInfo>& present) {
  std::vector<std::string> ids;
  for (const DeviceInfo& other : present) {
    const bool same_uuid = !info.uuid.empty() && info.uuid == other.uuid;
    const bool same_address = !info.pci_address.empty() && info.pci_address == other.pci_address;
    if (other.id != info.id && (same_uuid || same_address)) ids.push_back(other.id);
  }
  return ids;
}

std::string describe(const DeviceInfo& info, const std::vector<DeviceInfo>& present) {
  std::string text = fmt::format("{}  {}\n", info.id, info.name);
  add_fact(text, "kind", fmt::format("{}{}{}", to_string(info.kind), info.vendor.empty() ? "" : ", ", info.vendor));
  add_fact(text, "driver", driver_of(info));
  add_fact(text, "instruction set", info.instruction_set);
  add_fact(text, "memory", memory_of(info));
  if (info.cache_bytes > 0) add_fact(text, "largest cache", format_bytes(info.cache_bytes));
  if (info.compute_units > 0) add_fact(text, "compute units", fmt::format("{}", info.compute_units));
  add_fact(text, "work-groups", groups_of(info));
  add_fact(text, "floating point",
           fmt::format("float32{}{}", info.has_float64 ? ", float64" : "", info.has_float16 ? ", float16" : ""));
  if (info.timer_resolution_s > 0) add_fact(text, "timer", format_seconds(info.timer_resolution_s));
  add_fact(text, "PCI address", info.pci_address);
  add_fact(text, "UUID", info.uuid);
  add_fact(text, "same card as", fmt::format("{}", fmt::join(same_card_as(info, present), ", ")));
  return text;
}

}  // namespace tessera::tool
