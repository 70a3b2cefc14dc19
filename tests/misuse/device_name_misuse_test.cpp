// Device names that are none, devices that are not there, and wrong options behind the '?'.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

struct WrongName {
  std::string name;
  ErrorCode code;
  std::vector<std::string> parts;
};

void expect_refused(const WrongName& wrong) {
  SCOPED_TRACE("open(\"" + wrong.name + "\")");
  const Refusal refusal = refusal_of([&] { static_cast<void>(open(wrong.name)); });
  EXPECT_EQ(to_string(refusal.code), to_string(wrong.code)) << refusal.what;
  EXPECT_TRUE(contains(refusal.what, wrong.name));
  for (const std::string& part : wrong.parts) EXPECT_TRUE(contains(refusal.what, part));
}

TEST(DeviceNameMisuseTest, names_that_are_none) {
  constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
  for (const WrongName& wrong : std::vector<WrongName>{{"cudda:0", kInvalid, {"cudda", "cuda", "opencl", "cpu"}},
                                                       {"cpu", kInvalid, {"cpu:0"}},
                                                       {"cpu:", kInvalid, {"cpu:0"}},
                                                       {":0", kInvalid, {"cpu:0"}},
                                                       {"0", kInvalid, {"cpu:0"}},
                                                       {"cpu:-1", kInvalid, {"-1"}},
                                                       {"cpu:0x", kInvalid, {"0x"}},
                                                       {"cpu: 0", kInvalid, {" 0"}},
                                                       {"cpu:1.5", kInvalid, {"1.5"}},
                                                       {"CPU:0", kInvalid, {"CPU", "cpu"}},
                                                       {"cpu:99999999999999999999", kInvalid, {"9999"}},
                                                       {"cpu:0?threads", kInvalid, {"threads", "key=value"}},
                                                       {"cpu:0?=4", kInvalid, {"key=value"}},
                                                       {"cpu:0?threads=1&threads=2", kInvalid, {"twice"}},
                                                       {"cpu_tbb:0", kInvalid, {"cpu"}}}) {
    expect_refused(wrong);
  }
}

TEST(DeviceNameMisuseTest, names_do_not_steer_a_terminal) {
  for (const char* name : {"\x1b[31mcuda:0", "cpu:0\n", "cpu:0?\x1b[2J", "cpu:0?threads=1&\a=2", "cpu:0?\r=1"}) {
    const Refusal refusal = refusal_of([&] { static_cast<void>(open(name)); });
    EXPECT_EQ(to_string(refusal.code), to_string(ErrorCode::invalid_argument)) << refusal.what;
    for (const char letter : refusal.what) EXPECT_GE(static_cast<unsigned char>(letter), 0x20) << refusal.what;
    EXPECT_TRUE(contains(refusal.what, "\\x"));
  }
}

TEST(DeviceNameMisuseTest, devices_that_are_not_there_list_those_that_are) {
  std::vector<std::string> present = device_ids();
  for (const char* name : {"cuda:99", "opencl:99", "cpu:99"}) {
    expect_refused({name, ErrorCode::unavailable, present});
  }
}

TEST(DeviceNameMisuseTest, options_of_the_cpu) {
  bool is_here = false;
  for (const std::string& id : device_ids()) is_here = is_here || id == "cpu:0";
  if (!is_here) GTEST_SKIP() << "cpu:0 is not present";
  constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
  for (const WrongName& wrong : std::vector<WrongName>{{"cpu:0?threads=0", kInvalid, {"threads", "0", "1"}},
                                                       {"cpu:0?threads=-4", kInvalid, {"threads", "-4"}},
                                                       {"cpu:0?threads=many", kInvalid, {"threads", "many"}},
                                                       {"cpu:0?threads=", kInvalid, {"threads"}},
                                                       {"cpu:0?threads=99999999999999999999", kInvalid, {"9999"}},
                                                       {"cpu:0?bogus=1", kInvalid, {"bogus", "threads"}}}) {
    expect_refused(wrong);
  }
}

}  // namespace
}  // namespace tessera::testing_support
