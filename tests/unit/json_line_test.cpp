// JSON of the library's own line files: what is taken, what is refused with its place, and what was written is read.
#include "json_line.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tessera::detail {
namespace {

JsonObject object_of(const std::string& line) {
  const JsonLine parsed = parse_json_line(line);
  if (const auto* const why = std::get_if<std::string>(&parsed)) {
    ADD_FAILURE() << line << ": " << *why;
    return {};
  }
  return std::get<JsonObject>(parsed);
}

std::string refusal_of_line(const std::string& line) {
  const JsonLine parsed = parse_json_line(line);
  const auto* const why = std::get_if<std::string>(&parsed);
  return why != nullptr ? *why : "it is taken";
}

template <class Value>
Value value_of(const JsonObject& object, const std::string& name) {
  const JsonValue* const value = find_field(object, name);
  const Value* const held = value != nullptr ? std::get_if<Value>(value) : nullptr;
  if (held == nullptr) ADD_FAILURE() << name << " is not there, or of another kind";
  return held != nullptr ? *held : Value();
}

TEST(JsonLineTest, every_kind_of_value_is_read) {
  const JsonObject object = object_of(
      " { \"text\" : \"a\\u00e4\\ud83d\\ude00\\n\\\"\\\\\", \"whole\": -12, \"real\": 1.5e-3, \"yes\": true, \"no\": "
      "false, \"null\": null, \"list\": [1, [2, {}], \"]\"], \"inner\": {\"a\": 1, \"b\": 2}, \"empty\": {} } \r");
  EXPECT_EQ(value_of<std::string>(object, "text"), "a\u00e4\U0001F600\n\"\\");
  EXPECT_EQ(value_of<std::int64_t>(object, "whole"), -12);
  EXPECT_EQ(value_of<double>(object, "real"), 1.5e-3);
  EXPECT_TRUE(value_of<bool>(object, "yes"));
  EXPECT_FALSE(value_of<bool>(object, "no"));
  EXPECT_EQ(value_of<std::int64_t>(value_of<JsonObject>(object, "inner"), "b"), 2);
  EXPECT_EQ(find_field(object, "inne"), nullptr);
  EXPECT_TRUE(object_of("{}").empty());
}

TEST(JsonLineTest, whole_numbers_beyond_64_bits_are_real_ones) {
  const JsonObject object = object_of("{\"a\":9223372036854775807,\"b\":9223372036854775808,\"c\":-1e300}");
  EXPECT_EQ(value_of<std::int64_t>(object, "a"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value_of<double>(object, "b"), 9223372036854775808.0);
  EXPECT_EQ(value_of<double>(object, "c"), -1e300);
}

TEST(JsonLineTest, what_is_no_object_is_refused) {
  for (const char* const line : {"",
                                 "   ",
                                 "[]",
                                 "1",
                                 "\"a\"",
                                 "{",
                                 "{\"a\"",
                                 "{\"a\":",
                                 "{\"a\":1",
                                 "{\"a\":1,",
                                 "{\"a\":1,}",
                                 "{a:1}",
                                 "{\"a\":1}}",
                                 "{\"a\":1} x",
                                 "{\"a\":tru}",
                                 "{\"a\":nul",
                                 "{\"a\":+1}",
                                 "{\"a\":01}",
                                 "{\"a\":-}",
                                 "{\"a\":1.}",
                                 "{\"a\":.5}",
                                 "{\"a\":1e}",
                                 "{\"a\":1e999}",
                                 "{\"a\":NaN}",
                                 "{\"a\":Infinity}",
                                 "{\"a\":0x10}",
                                 "{\"a\":[1,}",
                                 "{\"a\":[1",
                                 "{\"a\":\"",
                                 "{\"a\":\"\\\"",
                                 "{\"a\":\"\\x\"}",
                                 "{\"a\":\"\\u12\"}",
                                 "{\"a\":\"\\u12g4\"}",
                                 "{\"a\":\"\\ud800\"}",
                                 "{\"a\":\"\\udc00\"}",
                                 "{\"a\":\"\\ud800\\u0041\"}",
                                 "{\"a\":\"\t\"}",
                                 "{\"a\":\"\xff\"}",
                                 "{\"a\":\"\xc0\x80\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}",
                                 "{\"a\":1,\"a\":2}",
                                 "{\"a\":{\"b\":1,\"b\":1}}"}) {
    EXPECT_EQ(refusal_of_line(line).find("at letter "), 0U) << line << ": " << refusal_of_line(line);
  }
  EXPECT_EQ(refusal_of_line("{\"a\":1,\"a\":2}"), "at letter 11: the name 'a' stands twice");
  EXPECT_NE(refusal_of_line(std::string("{\"a\":1\0}", 8)), "it is taken");
}

TEST(JsonLineTest, depth_and_fields_have_a_limit) {
  std::string deep = "1";
  for (int level = 0; level < 7; ++level) deep = "[" + deep + "]";
  EXPECT_EQ(object_of("{\"a\":" + deep + "}").size(), 1U);
  EXPECT_NE(refusal_of_line("{\"a\":[" + deep + "]}").find("more than 8 levels"), std::string::npos);
  EXPECT_NE(refusal_of_line("{\"a\":" + std::string(100000, '[')).find("more than 8 levels"), std::string::npos);
  std::string many = "{";
  for (int i = 0; i < 101; ++i) many += "\"" + std::to_string(i) + "\":0,";
  many.back() = '}';
  EXPECT_NE(refusal_of_line(many).find("more than 100 fields"), std::string::npos);
}

TEST(JsonLineTest, what_is_written_is_read) {
  JsonWriter writer;
  writer.text("text", "\"quotes\", \\ and \x01\n");
  writer.number("least", 5e-324);
  writer.number("third", 1.0 / 3);
  writer.integer("whole", std::numeric_limits<std::int64_t>::min());
  writer.integers("none", {});
  writer.integers("some", {{"tile", 8}, {"a\"b", -1}});
  const std::string line = writer.take();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const JsonObject object = object_of(line);
  EXPECT_EQ(value_of<std::string>(object, "text"), "\"quotes\", \\ and \x01\n");
  EXPECT_EQ(value_of<double>(object, "least"), 5e-324);
  EXPECT_EQ(value_of<double>(object, "third"), 1.0 / 3);
  EXPECT_EQ(value_of<std::int64_t>(object, "whole"), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(value_of<JsonObject>(object, "none").empty());
  EXPECT_EQ(value_of<std::int64_t>(value_of<JsonObject>(object, "some"), "a\"b"), -1);
}

}  // namespace
}  // namespace tessera::detail
