// Holds a JSON document to a schema: the part of JSON Schema (draft 2020-12) that benchmarks/result.schema.json needs.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace tessera::testing_support {

/// "" if the document is as the schema says; else where the first difference is, and which. A keyword of the schema
/// that is not known here is a difference too: what is not checked must not look as if it were.
[[nodiscard]] std::string difference_from_schema(const nlohmann::json& document, const nlohmann::json& schema);

/// The schema that ships.
[[nodiscard]] nlohmann::json result_schema();

}  // namespace tessera::testing_support
