// One function walks document and schema together.
#include "json_schema.h"

#include <algorithm>
#include <fstream>
#include <set>

namespace tessera::testing_support {

namespace {

using Json = nlohmann::json;

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  return type == value.type_name();
}

class Walk {
 public:
  explicit Walk(const Json& root) : root_(root) {}

  std::string check(const Json& value, const Json& schema, const std::string& place) const {
    static const std::set<std::string> known{
        "$schema", "$comment", "$defs",  "$ref", "title", "type", "required", "properties", "additionalProperties",
        "items",   "enum",     "minimum"};
    for (const auto& [keyword, content] : schema.items()) {
      if (known.count(keyword) == 0) return place + ": the schema says " + keyword + ", which is not known here";
    }
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      const std::string path = reference->get<std::string>();
      return check(value, root_.at(Json::json_pointer(path.substr(path.find('#') + 1))), place);
    }
    if (const auto type = schema.find("type"); type != schema.end()) {
      const Json types = type->is_array() ? *type : Json::array({*type});
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&](const Json& one) { return is_of_type(value, one.get<std::string>()); });
      if (!fits) return place + " is " + value.dump() + ", but must be of type " + type->dump();
    }
    if (const auto values = schema.find("enum"); values != schema.end()) {
      if (std::find(values->begin(), values->end(), value) == values->end())
        return place + " is " + value.dump() + ", but must be one of " + values->dump();
    }
    if (const auto least = schema.find("minimum"); least != schema.end() && value.is_number() && value < *least)
      return place + " is " + value.dump() + ", but must be " + least->dump() + " at least";
    if (value.is_object()) return check_object(value, schema, place);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const std::string found = check(value[i], schema["items"], place + "/" + std::to_string(i));
        if (!found.empty()) return found;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::string check_object(const Json& value, const Json& schema, const std::string& place) const {
    for (const Json& name : schema.value("required", Json::array())) {
      if (!value.contains(name.get<std::string>())) return place + " has no " + name.get<std::string>();
    }
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [name, field] : value.items()) {
      const auto property = properties.find(name);
      std::string found;
      if (property != properties.end()) {
        found = check(field, *property, place + "/" + name);
      } else if (others.is_object()) {
        found = check(field, others, place + "/" + name);
      } else if (!others.get<bool>()) {
        found = place + "/" + name + " is a field that the schema does not know";
      }
      if (!found.empty()) return found;
    }
    return {};
  }

  const Json& root_;
};

}  // namespace

std::string difference_from_schema(const Json& document, const Json& schema) {
  return Walk(schema).check(document, schema, "");
}

Json result_schema() {
  return Json::parse(std::ifstream(TESSERA_RESULT_SCHEMA_PATH));
}

}  // namespace tessera::testing_support
