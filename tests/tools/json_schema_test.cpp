// The schema of result files refuses what is no result: each refusal names the place.
#include "json_schema.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::testing_support {
namespace {

using Json = nlohmann::json;

Json skipped_record() {
  Json record;
  for (const char* text : {"operator", "device", "backend", "variant", "case", "reason"}) record[text] = "some";
  record["type"] = "float32";
  record["status"] = "skipped";
  record["problem"] = {{"m", 3}};
  record["tuning"] = {{"tile", 16}};
  record["is_default"] = record["cold"] = false;
  record["error_factor"] = 1.0;
  record["input_sets"] = 1;
  record["rounds_s"] = Json::array();
  for (const char* unknown : {"error", "memory", "hardware", "device_time_s", "wall_time_s", "others_share", "batch",
                              "flushed_bytes", "gflops", "gbytes_per_s", "peak_share", "peak"})
    record[unknown] = nullptr;
  return record;
}

Json some_result() {
  Json result{{"tool", "tessera bench"}, {"format", 1}, {"date", "2026-01-01T00:00:00Z"}};
  result["library"] = {{"version", "1.2.3"}, {"commit", "0123"}};
  result["machine"] = {{"cpu", "A processor"},      {"cores", 4},       {"threads", 8},
                       {"memory_bytes", 1U << 30U}, {"os", "A system"}, {"kernel", "1.0"}};
  result["backends"] = result["devices"] = Json::array();
  result["records"] = Json::array({skipped_record()});
  return result;
}

TEST(JsonSchemaTest, takes_a_result) {
  EXPECT_EQ(difference_from_schema(some_result(), result_schema()), "");
}

TEST(JsonSchemaTest, refuses_what_is_no_result) {
  const auto expect_refused = [](const Json& result, const std::string& place) {
    const std::string found = difference_from_schema(result, result_schema());
    EXPECT_EQ(found.substr(0, place.size()), place) << found;
  };
  Json result = some_result();
  result["tool"] = "another";
  expect_refused(result, "/tool is \"another\"");
  result = some_result();
  result.erase("machine");
  expect_refused(result, " has no machine");
  result = some_result();
  result["records"][0]["gflops"] = "fast";
  expect_refused(result, "/records/0/gflops is \"fast\"");
  result = some_result();
  result["records"][0]["gflops"] = -1;
  expect_refused(result, "/records/0/gflops is -1");
  result = some_result();
  result["records"][0]["novelty"] = 1;
  expect_refused(result, "/records/0/novelty is a field");
  result = some_result();
  result["records"][0].erase("peak");
  expect_refused(result, "/records/0 has no peak");
  result = some_result();
  result["records"][0]["tuning"]["tile"] = 1.5;
  expect_refused(result, "/records/0/tuning/tile is 1.5");
  result = some_result();
  result["records"][0]["error"] = {{"worst", 1}};
  expect_refused(result, "/records/0/error has no bound");
  expect_refused(Json::array(), " is []");
}

TEST(JsonSchemaTest, refuses_a_schema_that_it_does_not_know) {
  EXPECT_NE(difference_from_schema(Json(3), Json{{"maximum", 2}}), "");
  EXPECT_NE(difference_from_schema(Json::array({3}), Json{{"items", {{"multipleOf", 2}}}}), "");
}

}  // namespace
}  // namespace tessera::testing_support
