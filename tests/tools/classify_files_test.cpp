// Files of numbers in every format are read for what they hold.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "table_reading.h"
#include "table_sample.h"
#include "tools/classify/labelled_images.h"

namespace tessera::tool {
namespace {

using namespace testing_support;
using List = std::vector<double>;

TEST(TableFileTest, idx_of_every_type_is_read) {
  EXPECT_EQ(read_table(idx(0x08, {3, 2, 1}, std::string("\1\2\3\4\5\xff"))).numbers, (List{1, 2, 3, 4, 5, 255}));
  EXPECT_EQ(read_table(idx(0x09, {2}, std::string("\x80\x7f"))).numbers, (List{-128, 127}));
  EXPECT_EQ(read_table(idx(0x0b, {2}, std::string("\xff\xfe\1\0", 4))).numbers, (List{-2, 256}));
  EXPECT_EQ(read_table(idx(0x0c, {1}, std::string("\1\0\0\2", 4))).numbers, (List{16777218}));
  EXPECT_EQ(read_table(idx(0x0d, {1, 1}, std::string("\x3f\xc0\0\0", 4))).numbers, (List{1.5}));
  EXPECT_EQ(read_table(idx(0x0e, {1, 1}, std::string("\xbf\xf8\0\0\0\0\0\0", 8))).numbers, (List{-1.5}));
  const TableRead rows = read_table(idx(0x08, {2, 2, 3}, "abcdefghijkl"), DataType::uint8);
  EXPECT_EQ(rows.columns, 6);
  EXPECT_EQ(rows.numbers.size(), 12U);
  EXPECT_EQ(rows.format, "IDX");
}

TEST(TableFileTest, npy_of_every_type_and_byte_order_is_read) {
  EXPECT_EQ(read_table(npy("|u1", "(2, 2)", "\1\2\3\4")).numbers, (List{1, 2, 3, 4}));
  EXPECT_EQ(read_table(npy("<f4", "(2,)", stored<float>({1.5F, -2}))).numbers, (List{1.5, -2}));
  EXPECT_EQ(read_table(npy("<f8", "(1, 2)", stored<double>({0.1, 3}))).numbers, (List{0.1, 3}));
  EXPECT_EQ(read_table(npy("<i8", "(2,)", stored<std::int64_t>({-5, 1LL << 40}))).numbers, (List{-5, 1099511627776.}));
  EXPECT_EQ(read_table(npy("<u2", "(1,)", stored<std::uint16_t>({65535}))).numbers, (List{65535}));
  EXPECT_EQ(read_table(npy(">i4", "(1,)", std::string("\0\0\1\0", 4))).numbers, (List{256}));
  EXPECT_EQ(read_table(npy_with("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"|i1\"}", "\xff")).numbers,
            (List{-1}));
  const TableRead rows = read_table(npy("|u1", "(1, 2, 3)", "abcdef"));
  EXPECT_EQ(rows.columns, 6);
  EXPECT_EQ(rows.format, "NPY");
}

TEST(TableFileTest, text_with_blanks_commas_and_any_line_ends_is_read) {
  EXPECT_EQ(read_table("1 2\n3 4\n").numbers, (List{1, 2, 3, 4}));
  EXPECT_EQ(read_table("1,2\r\n\r\n 3 ,\t4,\r\n\n").numbers, (List{1, 2, 3, 4}));
  EXPECT_EQ(read_table("\n\n+1.5e0 -.25").numbers, (List{1.5, -.25}));
  EXPECT_EQ(read_table("7.000000000000000000e+00\n").numbers, (List{7}));
  EXPECT_EQ(read_table("1 2 3\n4 5 6").columns, 3);
  // A line that is longer than what is read at once.
  std::string line;
  for (int i = 0; i < 50000; ++i) line += std::to_string(i) + " ";
  const TableRead rows = read_table(line + "\n" + line);
  EXPECT_EQ(rows.columns, 50000);
  EXPECT_EQ(rows.numbers.at(99999), 49999);
}

TEST(TableFileTest, what_is_packed_reads_as_what_is_plain) {
  std::string data;
  for (unsigned i = 0; i < 300000; ++i) data += static_cast<char>(i * i >> 3);
  const std::string plain = idx(0x08, {1000, 300}, data);
  const TableRead whole = read_table(plain, DataType::uint8, 7);
  ASSERT_EQ(whole.refusal, "");
  EXPECT_EQ(read_table(gzip(plain), DataType::uint8, 7).numbers, whole.numbers);
  EXPECT_EQ(read_table(gzip(plain.substr(0, 1000)) + gzip(plain.substr(1000)), DataType::uint8, 999).numbers,
            whole.numbers)
      << "two packed parts behind one another";
  EXPECT_EQ(read_table(gzip("1 2\n")).numbers, (List{1, 2}));
}

TEST(TableFileTest, types_become_the_one_that_is_asked_for) {
  EXPECT_EQ(read_table("0 255\n", DataType::uint8).numbers, (List{0, 255}));
  EXPECT_EQ(read_table("0.1", DataType::float32).numbers, (List{0.1F}));
  EXPECT_EQ(read_table(npy("<f8", "(1,)", stored<double>({0.1})), DataType::float32).numbers, (List{0.1F}));
}

class LabelledImagesTest : public testing::Test {
 protected:
  static std::string refusal(const std::string& images, const std::string& labels, std::int64_t most = 0) {
    const MemoryFile image_file(images), label_file(labels);
    try {
      LabelledImages set(image_file.path(), label_file.path(), "test", most);
      Numbers numbers = std::vector<double>();
      while (set.read(2, numbers) != 0) {
      }
      EXPECT_EQ(size_of(numbers), set.labels().size() * 2);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.sentence();
    }
  }
  static void expect(const std::string& sentence, const std::string& part) {
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }
};

TEST_F(LabelledImagesTest, counts_must_agree) {
  const std::string images = idx(0x08, {3, 2}, "abcdef");
  EXPECT_EQ(refusal(images, "1\n-2\n3\n"), "");
  EXPECT_EQ(refusal(images, "1\n-2\n3\n", 2), "") << "only the first two";
  expect(refusal(images, idx(0x08, {2}, "ab")), "holds 3 rows, but the file of test labels");
  expect(refusal(images, "1\n2\n"), "holds 3 rows, but the file of test labels");
  expect(refusal("1 2\n3 4\n", "1\n2\n3\n"), "holds 2 rows, but the file of test labels");
  expect(refusal("1 2\n3 4\n5 6\n", "1\n2\n"), "holds more than 2 rows, but the file of test labels");
}

TEST_F(LabelledImagesTest, labels_are_whole_numbers_one_a_row) {
  const std::string images = "1 2\n3 4\n";
  EXPECT_EQ(refusal(images, npy("<i8", "(2, 1)", stored<std::int64_t>({-7, 1LL << 50}))), "");
  EXPECT_EQ(refusal(images, npy("<f4", "(2,)", stored<float>({1, 2}))), "");
  expect(refusal(images, "1\n2.5\n"), "holds 2.5 as label 1 (counted from 0), but labels are whole numbers");
  expect(refusal(images, npy("<u8", "(2,)", stored<std::uint64_t>({1, ~0ULL}))), "as label 1 (counted from 0)");
  expect(refusal("1\n2\n", images), "holds rows of 2 numbers, but labels are one a row: IMAGES come first");
  expect(refusal(images, "\n\n"), "holds no labels");
  expect(refusal("\n", "1\n"), "holds no images");
}

}  // namespace
}  // namespace tessera::tool
