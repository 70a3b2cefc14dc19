// Takes the lines of the backends' floor.txt apart.
#include "floors.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "floor_lines.h"

namespace tessera::testing_support {

namespace {

DataType type_of(const std::string& name, const std::string& line) {
  for (const DataType type : {DataType::float32, DataType::float64, DataType::int8, DataType::uint8, DataType::int16,
                              DataType::uint16, DataType::int32, DataType::uint32, DataType::int64, DataType::uint64}) {
    if (to_string(type) == name) return type;
  }
  throw std::runtime_error("the floor '" + line + "' names the type '" + name + "', which is none");
}

DeviceKind kind_of(const std::string& name, const std::string& line) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu, DeviceKind::accelerator}) {
    if (to_string(kind) == name) return kind;
  }
  throw std::runtime_error("the floor '" + line + "' names the kind of device '" + name + "', which is none");
}

/// 90 of "sm_90", nothing of other instruction sets.
std::optional<int> number_of_sm(const std::string& instruction_set) {
  constexpr std::string_view kPrefix = "sm_";
  if (!instruction_set.starts_with(kPrefix)) return std::nullopt;
  int number = 0;
  const char* const end = instruction_set.data() + instruction_set.size();
  const auto read = std::from_chars(instruction_set.data() + kPrefix.size(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

bool is_in_capitals(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// Is it one of the words?
bool holds_word(const std::string& words, const std::string& wanted) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    if (word == wanted) return true;
  }
  return false;
}

/// What stands behind "@".
void restrict_devices(std::string devices, const std::string& line, Floor& floor) {
  if (is_in_capitals(devices)) {
    floor.extension = std::move(devices);
    return;
  }
  const bool or_newer = devices.ends_with('+');
  if (or_newer) devices.pop_back();
  floor.least_sm = number_of_sm(devices);
  if (!floor.least_sm) {
    floor.only_on = kind_of(devices, line);
  } else if (!or_newer) {
    floor.most_sm = floor.least_sm;
  }
}

Floor floor_of(const std::string& line) {
  Floor floor;
  std::string types;
  std::istringstream words(line);
  words >> floor.backend >> floor.operator_name >> types;
  if (const auto at = types.find('@'); at != std::string::npos) {
    restrict_devices(types.substr(at + 1), line, floor);
    types.resize(at);
  }
  std::istringstream names(types);
  for (std::string name; std::getline(names, name, ',');) floor.types.push_back(type_of(name, line));
  for (std::string variant; words >> variant;) floor.variants.push_back(variant);
  if (floor.variants.empty()) throw std::runtime_error("the floor '" + line + "' names no variant");
  return floor;
}

}  // namespace

bool Floor::concerns(const DeviceInfo& device) const {
  if (only_on && *only_on != device.kind) return false;
  if (!extension.empty() && !holds_word(device.instruction_set, extension)) return false;
  const std::optional<int> sm = number_of_sm(device.instruction_set);
  if (least_sm && (!sm || *sm < *least_sm)) return false;
  return !most_sm || (sm && *sm <= *most_sm);
}

const std::vector<Floor>& floors() {
  static const std::vector<Floor> all = [] {
    std::vector<Floor> list;
    std::istringstream lines(kFloorLines);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) list.push_back(floor_of(line));
    }
    return list;
  }();
  return all;
}

}  // namespace tessera::testing_support
