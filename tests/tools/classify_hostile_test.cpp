// Files of numbers that are cut off, damaged, lie or are something else: one clear sentence with the place, no harm,
// and no memory on the word of a head.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>

#include "table_reading.h"
#include "table_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

std::string refusal(const std::string& bytes, DataType type = DataType::float64) {
  return read_table(bytes, type).refusal;
}

const std::string kIdx = idx(0x08, {5, 3, 2}, std::string("abcdefghijklmnopqrstuvwxyz0123"));
const std::string kNpy = npy("<f4", "(2, 3)", stored<float>({1, 2, 3, 4, 5, 6}));

TEST(HostileTableTest, cuts_are_refused_wherever_they_are) {
  for (const std::string& plain : {kIdx, kNpy}) {
    EXPECT_EQ(refusal(plain), "");
    EXPECT_EQ(refusal(gzip(plain)), "");
    for (std::size_t size = 0; size < plain.size(); ++size) {
      ASSERT_NE(refusal(plain.substr(0, size)), "") << size;
      ASSERT_NE(refusal(gzip(plain.substr(0, size))), "") << size;
    }
    const std::string packed = gzip(plain);
    for (std::size_t size = 0; size < packed.size(); ++size) ASSERT_NE(refusal(packed.substr(0, size)), "") << size;
  }
}

TEST(HostileTableTest, says_where_a_file_is_cut_off) {
  EXPECT_EQ(refusal(""), "is empty");
  EXPECT_EQ(refusal(gzip("")), "is empty");
  EXPECT_EQ(refusal(kIdx.substr(0, 7)), "ends at byte 7, in its head");
  EXPECT_EQ(refusal(kNpy.substr(0, 30)), "ends at byte 30, in its head");
  EXPECT_EQ(refusal(kIdx.substr(0, 40)), "has 40 bytes, but its head promises 5 rows of 6 numbers, which make 46");
  EXPECT_EQ(refusal(gzip(kIdx.substr(0, 40))),
            "ends at byte 40 of what it unpacks to, but its head promises 5 rows of 6 numbers, which make 46 bytes");
  EXPECT_EQ(refusal(gzip(kIdx).substr(0, 30)), "is packed with gzip, but is cut off at byte 30 of the packed file");
  EXPECT_EQ(refusal(kIdx + "x"), "has 47 bytes, but its head promises 5 rows of 6 numbers, which make 46");
  EXPECT_EQ(refusal(gzip(kIdx + "x")), "goes on behind byte 45 of what it unpacks to, where its head promises its end");
}

TEST(HostileTableTest, damaged_gzip_is_refused) {
  std::string packed = gzip(kIdx);
  packed[packed.size() - 6] ^= 1;  // its checksum
  EXPECT_NE(refusal(packed).find("is packed with gzip, but is damaged (incorrect data check)"), std::string::npos)
      << refusal(packed);
  EXPECT_NE(refusal(gzip(kIdx) + "behind").find("goes on with something else"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x1f\x8b") + "neither").find("is damaged"), std::string::npos);
}

TEST(HostileTableTest, other_heads_are_refused) {
  EXPECT_EQ(refusal(idx(0x07, {1, 1}, "a")),
            "begins with the magic number 0x00000702, whose third byte is none of IDX's types: 0x08, 0x09, 0x0b to "
            "0x0e");
  EXPECT_EQ(refusal(std::string("\0\1\x08\3", 4)),
            "begins with the magic number 0x00010803, but IDX files begin with two bytes of 0");
  EXPECT_EQ(refusal(idx(0x08, {}, "a")),
            "begins with the magic number 0x00000800, whose last byte, the number of lengths, must be 1 to 8");
  EXPECT_EQ(refusal("\x89PNG\r\n\x1a\n"), "is neither IDX, nor NPY, nor text: byte 0 is 0x89");
  EXPECT_EQ(refusal("12 3\x01"), "is neither IDX, nor NPY, nor text: byte 4 is 0x01");
  EXPECT_EQ(refusal("\x93NUMBY"), "begins with byte 0x93, but goes on otherwise than NPY files do");
}

TEST(HostileTableTest, npy_heads_that_are_not_meant_are_refused) {
  const std::string data(8, '\0');
  const auto with = [&](const std::string& dictionary) { return refusal(npy_with(dictionary, data)); };
  EXPECT_EQ(with("{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }"),
            "has a head that says that columns come before rows (fortran_order), but rows must at byte 48");
  EXPECT_EQ(with("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }"),
            "has a head that names a type that is neither an integer of 1 to 8 bytes, nor f4, nor f8, at byte 25");
  EXPECT_NE(with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }").find("no text in quotes"),
            std::string::npos);
  EXPECT_NE(with("{'descr': '<f8', 'fortran_order': False, 'shape': (), }").find("a single number"), std::string::npos);
  EXPECT_NE(with("{'descr': '<f8', 'shape': (1,), }").find("lacks one of"), std::string::npos);
  EXPECT_NE(with("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }").find("holds no length"),
            std::string::npos);
  EXPECT_NE(
      with("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }").find("holds no length"),
      std::string::npos);
  EXPECT_NE(with("{'x': 1}").find("does not know"), std::string::npos);
  EXPECT_NE(with("{").find("no text in quotes"), std::string::npos);
  EXPECT_NE(with("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x").find("goes on"), std::string::npos);
}

TEST(HostileTableTest, heads_that_promise_much_take_no_memory) {
  const auto peak_kib = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peak_kib();
  const std::string million = idx(0x08, {0xffffffffU, 1000, 1000}, "abc");
  EXPECT_NE(refusal(million).find("but its head promises 4294967295 rows of 1000000 numbers"), std::string::npos);
  EXPECT_NE(refusal(gzip(million)).find("ends at byte 19 of what it unpacks to"), std::string::npos);
  EXPECT_NE(refusal(idx(0x08, {1, 0xffffffffU, 0xffffffffU, 0xffffffffU}, "abc")).find("at most 16777216"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<f8", "(18446744073709551615, 1)", "")).find("18446744073709551615 rows"), std::string::npos);
  EXPECT_NE(refusal(npy("<f8", "(1, 18446744073709551615, 0)", "")).find("hold no numbers"), std::string::npos);
  EXPECT_LT(peak_kib() - before, 64 * 1024);
}

TEST(HostileTableTest, text_says_line_and_number) {
  EXPECT_EQ(refusal("1 2\n3 x4\n"), "holds 'x4' as number 2 of line 2, which is no number");
  EXPECT_EQ(refusal("1 2\n\n3\n"), "has 1 numbers in line 3, but 2 in line 1");
  EXPECT_EQ(refusal("1,,2"), "holds '' as number 2 of line 1, where a number must stand before the comma");
  EXPECT_EQ(refusal(",1"), "holds '' as number 1 of line 1, where a number must stand before the comma");
  EXPECT_EQ(refusal("1 nan"), "holds 'nan' as number 2 of line 1, but must hold finite numbers that float64 holds");
  EXPECT_EQ(refusal("1e999"), "holds '1e999' as number 1 of line 1, which float64 does not hold");
  EXPECT_EQ(refusal("1.2.3"), "holds '1.2.3' as number 1 of line 1, which is no number");
  EXPECT_EQ(refusal(std::string(70, '1')).substr(0, 20), "holds '1111111111111");
  EXPECT_EQ(refusal(std::string(100, ' ') + "1 \x1b[31m\x80"),
            "holds '\\x1b[31m\\x80' as number 2 of line 1, which is no number");
}

TEST(HostileTableTest, numbers_must_fit_the_type) {
  EXPECT_EQ(
      refusal("1 256\n", DataType::uint8),
      "holds 256 as number 2 of line 1, but must hold whole numbers from 0 to 255 to be compared as uint8 (--type)");
  EXPECT_EQ(refusal("0.5\n", DataType::uint8).substr(0, 32), "holds 0.5 as number 1 of line 1,");
  EXPECT_EQ(refusal("1e300\n", DataType::float32),
            "holds 1e+300 as number 1 of line 1, but must hold finite numbers that float32 holds");
  EXPECT_EQ(refusal(npy("<f8", "(2,)", stored<double>({1, -1})), DataType::uint8).substr(0, 23),
            "holds -1 at byte 136, b");
  EXPECT_EQ(refusal(idx(0x0d, {1, 1}, std::string("\x7f\xc0\0\0", 4))),
            "holds nan at byte 12, but must hold finite numbers that float64 holds");
}

TEST(HostileTableTest, random_bytes_do_no_harm) {
  std::minstd_rand random(1);
  const std::string text = "1 2 3\n4 5 6\n7.5,8,9e1\n";
  int refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = round % 3 == 0 ? kIdx : round % 3 == 1 ? kNpy : text;
    if (round % 2 == 1) bytes = gzip(bytes);
    for (int flips = 1 + round % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() >> 8);
    }
    refused += refusal(bytes).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 3000);  // what is not refused hit plain data, which any number may be
}

}  // namespace
}  // namespace tessera::tool
