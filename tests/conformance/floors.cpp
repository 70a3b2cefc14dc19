// Takes the lines of the backends' floor.txt apart.
#include "floors.h"

#include <sstream>
#include <stdexcept>

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

Floor floor_of(const std::string& line) {
  Floor floor;
  std::string types;
  std::istringstream words(line);
  words >> floor.backend >> floor.operator_name >> types;
  if (const auto at = types.find('@'); at != std::string::npos) {
    floor.only_on = kind_of(types.substr(at + 1), line);
    types.resize(at);
  }
  std::istringstream names(types);
  for (std::string name; std::getline(names, name, ',');) floor.types.push_back(type_of(name, line));
  for (std::string variant; words >> variant;) floor.variants.push_back(variant);
  if (floor.variants.empty()) throw std::runtime_error("the floor '" + line + "' names no variant");
  return floor;
}

}  // namespace

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
