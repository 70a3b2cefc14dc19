// Element types: sizes, names and the C++ types that they stand for.
#include <tessera/types.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(TypesTest, cpp_types_have_their_data_type) {
  EXPECT_EQ(data_type_of<float>, DataType::float32);
  EXPECT_EQ(data_type_of<const double>, DataType::float64);
  EXPECT_EQ(data_type_of<unsigned char>, DataType::uint8);
  EXPECT_EQ(data_type_of<long>, DataType::int64);
  EXPECT_EQ(data_type_of<long long>, DataType::int64);
  EXPECT_EQ(data_type_of<unsigned short>, DataType::uint16);
}

TEST(TypesTest, sizes_match_the_names) {
  for (int i = 0; i <= static_cast<int>(DataType::float64); ++i) {
    const auto type = static_cast<DataType>(i);
    const std::string name(to_string(type));
    const std::size_t bits = std::stoul(name.substr(name.find_first_of("0123456789")));
    EXPECT_EQ(size_bytes(type) * 8, bits) << name;
  }
}

}  // namespace
}  // namespace tessera
