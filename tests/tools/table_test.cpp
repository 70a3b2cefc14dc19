// Tables, numbers and the progress bar, as text.
#include "tools/output/table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tools/output/progress.h"

namespace tessera::tool {
namespace {

TEST(TableTest, aligns_columns_and_trims_lines) {
  Table table({{"name"}, {"GB/s", Align::right}, {"note"}});
  table.add_row({"copy", "1.5", "ok"});
  table.add_row({"a", "1234.5"});
  EXPECT_EQ(table.render(),
            "name    GB/s  note\n"
            "----  ------  ----\n"
            "copy     1.5  ok\n"
            "a     1234.5\n");
}

TEST(TableTest, counts_characters_and_not_bytes) {
  Table table({{"device"}, {"n", Align::right}});
  table.add_row({"\xC3\xA9", "1"});
  EXPECT_EQ(table.render(), "device  n\n------  -\n\xC3\xA9       1\n");
}

TEST(TableTest, refuses_more_cells_than_columns) {
  Table table({{"one"}});
  EXPECT_THROW(table.add_row({"1", "2"}), std::logic_error);
}

TEST(FormatTest, seconds) {
  EXPECT_EQ(format_seconds(12.3e-9), "12.3 ns");
  EXPECT_EQ(format_seconds(12.34e-6), "12.3 us");
  EXPECT_EQ(format_seconds(4.56e-3), "4.56 ms");
  EXPECT_EQ(format_seconds(7.891), "7.89 s");
}

TEST(FormatTest, bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(48 * 1024), "48 KiB");
  EXPECT_EQ(format_bytes(150'000'000'000), "139.7 GiB");
}

TEST(FormatTest, numbers) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(3.14159), "3.142");
  EXPECT_EQ(format_number(50800.4), "50800");
  EXPECT_EQ(format_number(0.01234567), "0.01235");
  EXPECT_EQ(format_number(2.5e-7), "2.50e-07");
}

TEST(ProgressTest, line_shows_share_count_and_what_is_done) {
  EXPECT_EQ(Progress::line(10, 20, "gemm", 80), "[##########..........]  50 % (10/20) gemm");
  EXPECT_EQ(Progress::line(0, 4, "x", 80), "[....................]   0 % (0/4) x");
  EXPECT_EQ(Progress::line(4, 4, "x", 80), "[####################] 100 % (4/4) x");
}

TEST(ProgressTest, line_fits_the_terminal) {
  EXPECT_EQ(Progress::line(1, 2, "a long name", 30).size(), 30U);
}

TEST(ProgressTest, time_left_can_be_told) {
  EXPECT_EQ(Progress::time_left(0.0), "");
  EXPECT_EQ(Progress::time_left(12.1), "13 s left, ");
  EXPECT_EQ(Progress::time_left(61.0), "1 min 1 s left, ");
  std::ostringstream terminal;
  Progress progress(2, terminal, 80);
  progress.tell_time_left(5);
  progress.show(0, "gemm");
  EXPECT_NE(terminal.str().find("(0/2) 5 s left, gemm"), std::string::npos) << terminal.str();
}

TEST(ProgressTest, time_left_follows_from_the_steps_that_are_done) {
  using std::chrono::duration;
  EXPECT_EQ(Progress::time_left(0, 10, duration<double>(3)), "");
  EXPECT_EQ(Progress::time_left(10, 10, duration<double>(3)), "");
  EXPECT_EQ(Progress::time_left(1, 10, duration<double>(0.5)), "5 s left, ");
  EXPECT_EQ(Progress::time_left(1, 14, duration<double>(5)), "1 min 5 s left, ");
  EXPECT_EQ(Progress::time_left(1, 3, duration<double>(3661)), "2 h 2 min left, ");
}

TEST(ProgressTest, tells_the_time_left_only_where_steps_are_alike) {
  for (const bool alike : {false, true}) {
    std::ostringstream stream;
    Progress progress(3, stream, 80);
    if (alike) progress.steps_are_alike();
    progress.show(1, "work");
    EXPECT_EQ(stream.str().find(" left, work") != std::string::npos, alike) << stream.str();
  }
}

TEST(ProgressTest, is_silent_without_a_terminal) {
  std::ostringstream stream;
  {
    Progress progress(3, stream, 0);
    progress.show(0, "work");
  }
  EXPECT_EQ(stream.str(), "");
}

TEST(ProgressTest, leaves_an_empty_line_behind) {
  std::ostringstream stream;
  {
    Progress progress(3, stream, 80);
    progress.show(0, "work");
  }
  EXPECT_NE(stream.str().find("work"), std::string::npos);
  EXPECT_TRUE(stream.str().ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace tessera::tool
