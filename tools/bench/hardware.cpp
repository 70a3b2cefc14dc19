// Field names of what the hardware did, and its words.
#include "tools/bench/hardware.h"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

template <class Number>
Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json to_json(const LaunchFacts& facts) {
  return {{"function", facts.function.empty() ? Json() : Json(facts.function)},
          {"launches", facts.launches},
          {"groups", facts.groups},
          {"group_size", facts.group_size},
          {"registers", or_null(facts.registers)},
          {"spilled_bytes", or_null(facts.spilled_bytes)},
          {"local_memory_bytes", or_null(facts.local_memory_bytes)},
          {"groups_per_unit", or_null(facts.groups_per_unit)},
          {"occupancy", or_null(facts.occupancy)}};
}

/// A number of a file, which may be any.
std::optional<double> count_of(const Json& object, const char* name) {
  const std::optional<double> number = number_of(object, name);
  return number && *number >= 0 && *number < 1e15 ? number : std::nullopt;
}

const Json* largest_launch(const Json& launches) {
  const Json* largest = nullptr;
  double most = -1;
  for (const Json& launch : launches) {
    if (!launch.is_object()) continue;
    const double items = count_of(launch, "groups").value_or(0) * count_of(launch, "group_size").value_or(0);
    if (items <= most) continue;
    largest = &launch;
    most = items;
  }
  return largest;
}

}  // namespace

Json hardware_record(const DeviceInfo& info, const std::vector<LaunchFacts>& launches) {
  Json list = Json::array();
  for (const LaunchFacts& facts : launches) list.push_back(to_json(facts));
  return {{"instruction_set", info.instruction_set.empty() ? Json() : Json(info.instruction_set)},
          {"threads", info.kind == DeviceKind::cpu ? Json(info.compute_units) : Json()},
          {"launches", std::move(list)}};
}

std::string hardware_words(const Json& hardware) {
  if (!hardware.is_object()) return {};
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  if (const auto threads = count_of(hardware, "threads"))
    add(fmt::format("{:.0f} thread{}", *threads, *threads == 1 ? "" : "s"));
  if (const auto set = text_of(hardware, "instruction_set")) add(*set);
  const auto launches = hardware.find("launches");
  if (launches == hardware.end() || !launches->is_array()) return words;
  const Json* const launch = largest_launch(*launches);
  if (launch == nullptr) return words;
  const auto add_number = [&](const char* name, const auto& told) {
    if (const auto number = count_of(*launch, name)) add(told(*number));
  };
  const auto bytes = [](double number) { return format_bytes(static_cast<std::uint64_t>(number)); };
  add_number("registers", [](double number) { return fmt::format("{:.0f} registers", number); });
  add_number("spilled_bytes", [&](double number) { return bytes(number) + " spilled"; });
  add_number("local_memory_bytes", [&](double number) { return bytes(number) + " local"; });
  add_number("groups_per_unit", [](double number) { return fmt::format("{:.0f} groups a unit", number); });
  add_number("occupancy", [](double number) { return fmt::format("{:.0f} % occupied", 100 * number); });
  return words;
}

}  // namespace tessera::tool
