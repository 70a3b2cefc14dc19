// The page of a report: what it shows, what it makes of names with markup in them, and what hostile files do to it.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tessera/tessera.h>

#include "report_sample.h"
#include "support/scratch_folder.h"
#include "tools/report/charts.h"
#include "tools/report/page.h"
#include "tools/report/scale.h"
#include "tools/report/svg.h"

namespace tessera::tool {
namespace {

using testing_support::report_sample;
using testing_support::ScratchFolder;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string page_of(const Json& result) {
  return report_page({report_input_of(result, "folder/sample.json")});
}

TEST(ReportTest, shows_devices_operators_threads_copies_and_reasons) {
  const std::string page = page_of(report_sample());
  for (const char* part : {"sample.json",
                           "An accelerator",
                           "Roofline of cuda:0",
                           "speed over the problem&#39;s operations",
                           "as a share of its bound",
                           "speed-up over threads",
                           "To the device and back",
                           "vendor_blas",
                           "register (default)",
                           "unsupported: k is &lt; 3",
                           "How it was measured",
                           "200.0 GFLOP/s",
                           "class=\"peer\"",
                           "class=\"ours best\"",
                           "128 registers, 25 % occupied",
                           "8 threads, some",
                           "vendor_other: get &lt;it&gt;",
                           ">25.50<",
                           "L2 400.0, memory 45.00",
                           "int8 dot product and copy",
                           "float32 multiply-add and L2 reads",
                           ">20.0 %<"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("folder/"), std::string::npos) << "the folders of a machine are its own";
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(count_of(page, "http"), count_of(page, "http://www.w3.org/2000/svg")) << "nothing comes from elsewhere";
  for (const char* element : {"svg", "table", "figure", "details", "div"}) {
    EXPECT_EQ(count_of(page, fmt::format("<{}", element)), count_of(page, fmt::format("</{}>", element))) << element;
  }
}

TEST(ReportTest, every_chart_has_a_name_for_who_does_not_see_it) {
  const std::string page = page_of(report_sample());
  EXPECT_GT(count_of(page, "<svg"), 5U);
  EXPECT_EQ(count_of(page, "<svg"), count_of(page, "role=\"img\" aria-label=\""));
  EXPECT_EQ(page.find("aria-label=\"\""), std::string::npos);
}

TEST(ReportTest, says_what_changed_between_two_files) {
  Json now = report_sample();
  now["records"][0]["device_time_s"]["median"] = 2 * now["records"][0]["device_time_s"]["median"].get<double>();
  const std::string page =
      report_page({report_input_of(report_sample(), "then.json"), report_input_of(now, "now.json")});
  EXPECT_NE(page.find("now.json beside then.json"), std::string::npos);
  EXPECT_NE(page.find("0 faster, 1 slower"), std::string::npos);
  EXPECT_NE(page.find("<tr class=\"bad\">"), std::string::npos);
  Json other = report_sample();
  for (Json& record : other["records"]) record["operator"] = "another";
  EXPECT_NE(report_page({report_input_of(report_sample(), "a.json"), report_input_of(other, "b.json")})
                .find("no record in common"),
            std::string::npos);
}

TEST(ReportTest, markup_in_names_stays_text) {
  const std::string evil = "<script>alert('x')</script>\"&";
  Json result = report_sample();
  result["machine"]["cpu"] = result["date"] = result["note"] = result["library"]["version"] = evil;
  for (Json& device : result["devices"]) device["name"] = device["driver"] = device["asked_as"] = evil;
  for (Json& record : result["records"])
    record["operator"] = record["device"] = record["variant"] = record["case"] = record["type"] = record["reason"] =
        evil;
  for (Json& transfer : result["transfers"]) transfer["label"] = transfer["device"] = transfer["host_memory"] = evil;
  const std::string page = report_page({report_input_of(result, evil), report_input_of(result, evil)});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("alert('"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
}

TEST(ReportTest, a_file_that_is_no_result_gives_one_line) {
  const ScratchFolder scratch;
  const auto complaint_of = [&](const std::string& content) -> std::string {
    try {
      static_cast<void>(report_page({read_report_input(scratch.write("result.json", content))}));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.sentence().find('\n'), std::string::npos);
      return error.sentence();
    }
    return "";
  };
  const std::string whole = report_sample().dump();
  EXPECT_EQ(complaint_of(whole), "");
  EXPECT_NE(complaint_of("").find("is no JSON"), std::string::npos);
  EXPECT_NE(complaint_of("[1]").find("is none of `tessera bench`"), std::string::npos);
  EXPECT_NE(complaint_of(R"({"tool":"tessera bench"})").find("has no list of records"), std::string::npos);
  EXPECT_NE(complaint_of(std::string(100000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_THROW(static_cast<void>(read_report_input("/no/such/file.json")), Error);
  // Cut anywhere it is no JSON, and no byte that is changed does more than a sentence.
  for (std::size_t i = 0; i < whole.size(); i += 11) {
    EXPECT_NE(complaint_of(whole.substr(0, i)), "") << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x15);
    static_cast<void>(complaint_of(changed));
  }
}

TEST(ReportTest, fields_of_the_wrong_type_are_left_out) {
  const std::vector<Json> wrong{nullptr, true, -1, 1e308, "text", Json::array({1}), Json::object({{"median", "x"}})};
  const Json sample = report_sample();
  for (const auto& [name, value] : sample.items()) {
    if (name == "tool" || name == "records") continue;
    for (const Json& other : wrong) {
      Json result = report_sample();
      result[name] = other;
      EXPECT_NE(page_of(result).find("How it was measured"), std::string::npos) << name;
    }
  }
  const Json fields = sample["records"][0];
  for (const auto& [name, value] : fields.items()) {
    for (const Json& other : wrong) {
      Json result = report_sample();
      for (Json& record : result["records"]) record[name] = other;
      EXPECT_NE(page_of(result).find("How it was measured"), std::string::npos) << name;
    }
  }
}

TEST(ReportTest, a_page_has_no_more_records_than_it_can_show) {
  Json result = report_sample();
  const Json one = result["records"][0];
  for (int i = 0; i < 20001; ++i) result["records"].push_back(one);
  EXPECT_THROW(static_cast<void>(report_input_of(result, "huge.json")), Error);
}

TEST(ScaleTest, ends_at_round_numbers_and_keeps_the_order) {
  for (const bool is_log : {false, true}) {
    for (const double least : {1e-9, 0.3, 1.0, 7.0}) {
      for (const double share : {1.0, 1.5, 40.0, 1e7}) {
        const Scale scale(least, least * share, is_log, 100);
        ASSERT_GE(scale.ticks().size(), 2U);
        EXPECT_LE(scale.ticks().size(), 9U) << least << " " << share << " " << is_log;
        EXPECT_GE(scale.at(least), 0);
        EXPECT_LE(scale.at(least), scale.at(least * share));
        EXPECT_LE(scale.at(least * share), 100);
        for (std::size_t i = 1; i < scale.ticks().size(); ++i)
          EXPECT_GT(scale.ticks()[i].at - scale.ticks()[i - 1].at, 9) << least << " " << share << " " << is_log;
      }
    }
  }
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(2500), "2.5k");
  EXPECT_EQ(short_number(1e12), "1T");
}

TEST(SvgTest, texts_are_cut_between_letters) {
  EXPECT_EQ(clipped("short", 5), "short");
  EXPECT_EQ(clipped("longer", 5), "long\u2026");
  EXPECT_EQ(letters_of(clipped("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 4)), 4U);
  EXPECT_EQ(escaped("a<b>&\"'\x01"), "a&lt;b&gt;&amp;&quot;&#39;");
}

TEST(SvgTest, a_chart_without_a_point_that_can_be_shown_is_none) {
  EXPECT_EQ(xy_chart("t", "d", {.label = "x"}, {.label = "y"}, {{.name = "s", .points = {{0, 1, ""}, {-1, 2, ""}}}}),
            "");
}

}  // namespace
}  // namespace tessera::tool
