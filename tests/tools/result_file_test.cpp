// Result files: whole JSON with a record on a line, or none.
#include "tools/output/result_file.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/scratch_folder.h"

namespace tessera::tool {
namespace {

class ResultFileTest : public testing::Test {
 protected:
  testing_support::ScratchFolder folder_;
};

TEST_F(ResultFileTest, holds_each_field_and_each_record_on_a_line) {
  Json result{
      {"tool", "a test"}, {"note", nullptr}, {"empty", Json::array()}, {"machine", {{"cores", 2}, {"os", "x"}}}};
  for (int i = 0; i < 3; ++i) result["records"].push_back({{"case", i}, {"times", {1.5, 2.5}}});
  const std::string path = folder_.path("result.json");
  ResultFile(path).write(result);
  const std::string text = folder_.read("result.json");
  EXPECT_EQ(Json::parse(text), result) << text;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  // Braces, four fields, the list's name, three records, the list's end.
  ASSERT_EQ(lines.size(), 11U) << text;
  EXPECT_EQ(lines[2], "\"note\": null,");
  EXPECT_EQ(lines[4], "\"machine\": {\"cores\":2,\"os\":\"x\"},");
  EXPECT_EQ(lines[6], "  {\"case\":0,\"times\":[1.5,2.5]},");
  EXPECT_EQ(lines[9], "]");
}

TEST_F(ResultFileTest, holds_what_no_utf8_is_as_well) {
  const std::string path = folder_.path("result.json");
  ResultFile(path).write({{"na\xffme", "a \xfe device"}, {"list", {"\xc3"}}});
  EXPECT_EQ(Json::parse(folder_.read("result.json")).at("list").size(), 1U);
}

TEST_F(ResultFileTest, leaves_nothing_behind_that_is_not_whole) {
  const std::string path = folder_.write("result.json", "what was there");
  {
    const ResultFile file(path);
    EXPECT_EQ(folder_.names().size(), 2U) << "a wrong path is known before the work starts";
  }
  EXPECT_EQ(folder_.names().size(), 1U);
  EXPECT_EQ(folder_.read("result.json"), "what was there");
  EXPECT_THROW(ResultFile(folder_.path("no/such/folder/result.json")), Error);
}

}  // namespace
}  // namespace tessera::tool
