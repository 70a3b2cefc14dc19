// The file of tuned values as text: what is damaged is skipped and told, whoever wrote it and whatever it holds.
#include "tuning_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera::detail {
namespace {

const TuningKey kKey{"gemm", "m~1024", "cpu, 2 units", "tbb 1", "0.1.0", "abc"};

TuningLine line_with(TuningVerdict verdict, const std::string& variant, double seconds, const TuningKey& key = kKey) {
  const bool has_time = verdict == TuningVerdict::faster || verdict == TuningVerdict::not_faster;
  return {key,      {verdict, variant, {{"tile", 8}}, has_time ? seconds : 0, has_time ? "" : "element 7 is 4"},
          "naive",  2.0,
          "m=1000", "2026-03-01T12:00:00Z"};
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t place = text.find(part);
  EXPECT_NE(place, std::string::npos) << part << " in " << text;
  return place == std::string::npos ? text : text.replace(place, part.size(), by);
}

TEST(TuningTableTest, what_is_written_is_found_by_its_whole_key) {
  const std::string text = text_of(line_with(TuningVerdict::faster, "tiled", 1.5)) + "\n" +
                           text_of(line_with(TuningVerdict::wrong, "naive", 0)) + "\n";
  const TuningTable table(text);
  EXPECT_EQ(table.entries(), 2U);
  EXPECT_TRUE(table.complaints().empty());
  const TunedClass* const found = table.find(kKey);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(found->choice.has_value());
  EXPECT_EQ(found->choice->record.variant, "tiled");
  EXPECT_EQ(found->choice->record.tuning, (Tuning{{"tile", 8}}));
  EXPECT_EQ(found->choice->record.measured_s, 1.5);
  EXPECT_EQ(found->choice->default_variant, "naive");
  EXPECT_EQ(found->choice->default_s, 2.0);
  EXPECT_EQ(found->choice->problem, "m=1000");
  ASSERT_EQ(found->rejected.size(), 1U);
  EXPECT_EQ(found->rejected[0].record.because, "element 7 is 4");
  for (std::string TuningKey::*const part : {&TuningKey::operator_name, &TuningKey::shape_class, &TuningKey::device,
                                             &TuningKey::driver, &TuningKey::library, &TuningKey::kernels}) {
    TuningKey other = kKey;
    other.*part += "x";
    EXPECT_EQ(table.find(other), nullptr) << other.*part;
  }
}

TEST(TuningTableTest, of_two_choices_the_last_counts) {
  const TuningTable table(text_of(line_with(TuningVerdict::faster, "tiled", 1)) + "\n" +
                          text_of(line_with(TuningVerdict::not_faster, "naive", 2)));
  EXPECT_EQ(table.find(kKey)->choice->record.variant, "naive");
}

TEST(TuningTableTest, damaged_lines_are_skipped_and_told) {
  const std::string good = text_of(line_with(TuningVerdict::faster, "tiled", 1.5));
  const std::vector<std::pair<std::string, std::string>> damaged{
      {good.substr(0, good.size() / 2), "at letter"},
      {"<script>alert(1)</script>", "an object must begin"},
      {std::string(100, '\0'), "an object must begin"},
      {replaced(good, "1.5", "1e999"), "no double"},
      {replaced(good, "1.5", "-1.5"), "'measured_s' is -1.5"},
      {replaced(good, "1.5", "\"1.5\""), "'measured_s' must be a number"},
      {replaced(good, "1.5", "0"), "does not suit"},
      {replaced(good, "\"tile\":8", "\"tile\":99999999999999999999"), "integers of 64 bits"},
      {replaced(good, "\"tile\":8", "\"tile\":8.5"), "integers of 64 bits"},
      {replaced(good, "{\"tile\":8}", "8"), "'tuning' must be an object"},
      {replaced(good, "\"faster\"", "\"fastest\""), "'verdict' is 'fastest'"},
      {replaced(good, "\"faster\"", "true"), "'verdict' must be a text"},
      {replaced(good, "\"variant\":\"tiled\",", ""), "no field 'variant'"},
      {replaced(good, "\"tiled\"", "\"\""), "'variant' is empty"},
      {replaced(good, "\"tiled\"", "\"" + std::string(3000, 'x') + "\""), "longer than"},
      {replaced(good, "\"format\":1", "\"format\":1.5"), "'format'"},
      {replaced(good, "\"faster\"", "\"wrong\""), "does not suit"},
      {good + good, "nothing may stand behind"},
      {std::string(100000, 'x'), "longer than 65536 bytes"}};
  for (const auto& [line, why] : damaged) {
    const TuningTable table("\n" + line + "\n" + good + "\n");
    EXPECT_EQ(table.entries(), 1U) << line.substr(0, 200);
    ASSERT_EQ(table.complaints().size(), 1U) << line.substr(0, 200);
    EXPECT_EQ(table.complaints()[0].find("line 2 is damaged: "), 0U) << table.complaints()[0];
    EXPECT_NE(table.complaints()[0].find(why), std::string::npos) << table.complaints()[0];
    EXPECT_LT(table.complaints()[0].size(), 500U);
  }
}

TEST(TuningTableTest, words_lose_their_control_characters) {
  const std::string line =
      replaced(text_of(line_with(TuningVerdict::wrong, "tiled", 0)), "element 7", "\\u001b[2J<b>element</b> 7");
  const TuningTable table(line);
  ASSERT_EQ(table.entries(), 1U);
  EXPECT_EQ(table.find(kKey)->rejected[0].record.because, "\\x1b[2J<b>element</b> 7 is 4");
}

TEST(TuningTableTest, many_complaints_are_counted) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const TuningTable table(text);
  ASSERT_EQ(table.complaints().size(), 21U);
  EXPECT_EQ(table.complaints().back(), "980 more lines are not used either");
}

TEST(TuningTableTest, a_class_is_replaced_and_all_else_stays) {
  TuningKey other = kKey;
  other.shape_class = "m~2048";
  const std::string foreign = "{\"format\":2,\"anything\":[1,2]}";
  const std::string theirs = text_of(line_with(TuningVerdict::faster, "theirs", 1, other));
  const std::string before = text_of(line_with(TuningVerdict::faster, "old", 1)) + "\n" + foreign + "\ndamaged\n" +
                             text_of(line_with(TuningVerdict::failed, "older", 1)) + "\n" + theirs + "\n";
  const TuningLine fresh = line_with(TuningVerdict::not_faster, "new", 3);
  EXPECT_EQ(with_class_replaced(before, kKey, {fresh}, 100, 10000),
            foreign + "\n" + theirs + "\n" + text_of(fresh) + "\n");
  EXPECT_EQ(with_class_replaced(before, kKey, {fresh}, 2, 10000), theirs + "\n" + text_of(fresh) + "\n")
      << "the first ones go";
  EXPECT_EQ(with_class_replaced(before, kKey, {fresh}, 100, text_of(fresh).size() + 1), text_of(fresh) + "\n")
      << "so does what would make the file too large to be read again";
  EXPECT_EQ(with_class_replaced("", kKey, {}, 100, 10000), "");
  EXPECT_EQ(TuningTable(foreign).complaints(), std::vector<std::string>{"line 1 is in the format of another version"});
}

TEST(TuningTableTest, long_and_strange_words_are_cut_to_fit_a_line) {
  TuningLine line = line_with(TuningVerdict::failed, "tiled", 0);
  line.record.because = "log:\n" + std::string(1992, 'x') + "\u00e4\u00e4\u00e4\u00e4";
  const TuningTable table(text_of(line));
  ASSERT_EQ(table.entries(), 1U) << table.complaints().at(0);
  const std::string& because = table.find(kKey)->rejected[0].record.because;
  EXPECT_LE(because.size(), 2000U);
  EXPECT_TRUE(because.ends_with("...")) << because;
  EXPECT_EQ(fit_for_line("\xff\xfe"), "(words that are no UTF-8)");
}

}  // namespace
}  // namespace tessera::detail
