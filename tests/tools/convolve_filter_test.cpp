// The filters of `tessera convolve`: by name, from a file, and in integers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#include "support/scratch_folder.h"
#include "tools/convolve/image_filter.h"
#include "tools/convolve/integer_filter.h"
#include "tools/process/usage_error.h"

namespace tessera::tool {
namespace {

constexpr double kLargestPart = 8421504;  // times 255 it is the largest int32 but 127

double size_of(const std::vector<double>& weights) {
  double size = 0;
  for (const double weight : weights) size += std::fabs(weight);
  return size;
}

/// What parsing complains of.
std::string complaint(const std::string& text) {
  try {
    (void)parse_filter(text, "f");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.sentence();
  }
  return "";
}

TEST(NamedFilterTest, gaussian_is_binomial_where_it_is_small) {
  const ImageFilter filter = find_filter("gaussian:5");
  EXPECT_EQ(filter.height, 5);
  EXPECT_EQ(filter.width, 5);
  EXPECT_TRUE(filter.divides_by_sum);
  EXPECT_EQ(filter.sum(), 256);
  EXPECT_EQ(std::vector<double>(filter.weights.begin() + 10, filter.weights.begin() + 15),
            (std::vector<double>{6, 24, 36, 24, 6}));
}

TEST(NamedFilterTest, gaussian_of_every_size_is_a_column_times_a_row_in_exact_integers) {
  for (std::int64_t size = 1; size <= Conv2d::kLargestFilter; size += 2) {
    const ImageFilter filter = find_filter("gaussian:" + std::to_string(size));
    const auto at = [&](std::int64_t y, std::int64_t x) { return filter.weights.at(y * size + x); };
    const std::int64_t middle = size / 2;
    EXPECT_LE(filter.sum(), kLargestPart) << size;
    EXPECT_GE(at(0, 0), 1) << size;
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t x = 0; x < size; ++x) {
        ASSERT_EQ(at(y, x), std::round(at(y, x)));
        ASSERT_EQ(at(y, x) * at(middle, middle), at(y, middle) * at(middle, x));
        ASSERT_EQ(at(y, x), at(size - 1 - y, x));
        ASSERT_EQ(at(y, x), at(x, y));
        ASSERT_LE(at(y, x), at(middle, middle));
      }
    }
    EXPECT_EQ(in_integers(filter).parts.size(), 1U);
  }
}

TEST(NamedFilterTest, others_are_what_help_says) {
  EXPECT_EQ(find_filter("box:3").weights, std::vector<double>(9, 1.0));
  EXPECT_EQ(find_filter("box:2").height, 2);
  EXPECT_EQ(find_filter("sharpen").sum(), 1);
  EXPECT_EQ(find_filter("emboss").sum(), 1);
  EXPECT_EQ(find_filter("laplacian").sum(), 0);
  EXPECT_TRUE(find_filter("sobel-x").takes_absolute);
  EXPECT_EQ(find_filter("sobel-x").weights, (std::vector<double>{-1, 0, 1, -2, 0, 2, -1, 0, 1}));
  EXPECT_EQ(find_filter("sobel-y").weights, (std::vector<double>{-1, -2, -1, 0, 0, 0, 1, 2, 1}));
}

TEST(NamedFilterTest, wrong_names_and_sizes_are_wrong_use) {
  for (const char* spec : {"gaussian", "gaussian:", "gaussian:4", "gaussian:-3", "gaussian:65", "gaussian:3x", "box:0",
                           "box:64", "box:99999999999999999999", "box:3:3", "sobel", "sobel-x:3", "", ":", "no/such"}) {
    EXPECT_THROW((void)find_filter(spec), UsageError) << spec;
  }
}

TEST(FilterFileTest, takes_blanks_commas_comments_and_signs) {
  const ImageFilter filter = parse_filter("# edges\r\n\n 1, -2.5\t+3 # one\r\n4,5e-1 , 6", "f");
  EXPECT_EQ(filter.height, 2);
  EXPECT_EQ(filter.width, 3);
  EXPECT_EQ(filter.weights, (std::vector<double>{1, -2.5, 3, 4, 0.5, 6}));
  EXPECT_FALSE(filter.divides_by_sum);
  EXPECT_FALSE(filter.takes_absolute);
}

TEST(FilterFileTest, complaints_name_the_line) {
  EXPECT_EQ(complaint("1 2\n# no row\n3\n"), "f, line 3: the row has 1 weights, but the first row has 2");
  EXPECT_EQ(complaint("1 2\n3 x4\n"), "f, line 2: 'x4' is no number");
  EXPECT_EQ(complaint("1 2x"), "f, line 1: '2x' is no number");
  EXPECT_EQ(complaint("1 +-2"), "f, line 1: '+-2' is no number");
  EXPECT_EQ(complaint("\x01\x80\n"), "f, line 1: '?\?' is no number");
  EXPECT_EQ(complaint("1e10"), "f, line 1: the weight is '1e10', but must lie between -1000000000 and 1000000000");
  EXPECT_NE(complaint("1e999").find("'1e999'"), std::string::npos);
  EXPECT_NE(complaint("nan").find("'nan'"), std::string::npos);
  EXPECT_NE(complaint("-inf").find("'-inf'"), std::string::npos);
  EXPECT_EQ(complaint(""), "f holds no weights");
  EXPECT_EQ(complaint("# 1 2 3\n\n"), "f holds no weights");
  std::string many;
  for (int i = 0; i < 64; ++i) many += "1 ";
  EXPECT_EQ(complaint(many), "f, line 1: the row has more than 63 weights");
  for (char& letter : many) letter = letter == ' ' ? '\n' : letter;
  EXPECT_EQ(complaint(many), "f, line 64: the filter has more than 63 rows");
  EXPECT_EQ(complaint("0 1e-999 -0"), "");
}

TEST(FilterFileTest, that_is_no_file_or_too_large_is_refused) {
  const testing_support::ScratchFolder scratch;
  EXPECT_EQ(find_filter(scratch.write("f.txt", "1 2 1\n")).width, 3);
  EXPECT_THROW((void)find_filter(scratch.path("")), Error);
  EXPECT_THROW((void)find_filter(scratch.write("large.txt", std::string((1U << 20) + 1, '#'))), Error);
}

/// The weights again from the parts.
std::vector<double> put_together(const IntegerFilter& filter) {
  std::vector<double> weights(filter.parts.at(0).weights.size());
  for (const auto& part : filter.parts) {
    EXPECT_LE(size_of(part.weights), kLargestPart);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(part.weights[i], std::round(part.weights[i]));
      weights[i] += static_cast<double>(part.factor) * part.weights[i] / filter.scale;
    }
  }
  return weights;
}

TEST(IntegerFilterTest, scales_decimals_by_a_power_of_ten) {
  EXPECT_EQ(in_integers({1, 3, {1, -2, 1}}).scale, 1);
  EXPECT_EQ(in_integers({1, 3, {0.1, 0.8, 0.1}}).scale, 10);
  EXPECT_EQ(in_integers({1, 2, {0.0625, 0.5}}).scale, 10000);
  const IntegerFilter third = in_integers({1, 2, {1.0 / 3, 2.0 / 3}});
  EXPECT_EQ(third.scale, 1e12);
  EXPECT_NEAR(put_together(third)[0], 1.0 / 3, 1e-12);
}

TEST(IntegerFilterTest, splits_what_would_leave_an_int32) {
  EXPECT_EQ(in_integers({1, 1, {kLargestPart}}).parts.size(), 1U);
  EXPECT_EQ(in_integers({1, 1, {-kLargestPart - 1}}).parts.size(), 2U);
  for (const ImageFilter& filter :
       {ImageFilter{1, 3, {1e9, -999999999, 1}}, ImageFilter{1, 2, {0.123456789, 2}},
        ImageFilter{63, 63, std::vector<double>(3969, 1e9 - 2049)}, ImageFilter{1, 1, {-kLargestPart - 1}},
        ImageFilter{63, 63, std::vector<double>(3969, -0.00025195263290501)}}) {
    const std::vector<double> weights = put_together(in_integers(filter));
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(weights[i], filter.weights[i], 1e-12);
  }
}

}  // namespace
}  // namespace tessera::tool
