// A program that runs with rights that its caller has not: the caller's environment must not decide what it loads and
// where it writes. The probe is copied and marked so that it starts with another user's rights or another group's.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::testing_support {
namespace {

constexpr uid_t kSomebodyElse = 65534;

class SetUserIdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(beside_this_program("tessera_misuse_probe"), probe_);
    const std::string why = why_not_marked();
    if (!why.empty()) GTEST_SKIP() << why;
    const ChildResult child = run("secure", {});
    if (child.output.find("secure 1\n") == std::string::npos) {
      GTEST_SKIP() << "the marked program does not start with other rights here: " << child.output;
    }
  }

  /// "" once the copy has a mark: of another user, which only root can give it, or of another group of this user's.
  std::string why_not_marked() {
    std::filesystem::permissions(scratch_.path(""), std::filesystem::perms(0755));
    if (::geteuid() == 0) {
      if (::chown(probe_.c_str(), kSomebodyElse, kSomebodyElse) != 0) return "a file cannot be given away here";
      return ::chmod(probe_.c_str(), 04755) == 0 ? "" : "a program cannot be marked here";
    }
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) groups.clear();
    for (const gid_t group : groups) {
      if (group == ::getegid() || ::chown(probe_.c_str(), static_cast<uid_t>(-1), group) != 0) continue;
      return ::chmod(probe_.c_str(), 02755) == 0 ? "" : "a program cannot be marked here";
    }
    return "this user is not root and is in one group alone";
  }

  ChildResult run(const std::string& action, const std::map<std::string, std::string>& environment) const {
    return run_child(probe_, {action}, environment);
  }
  /// The same program without the mark.
  static ChildResult run_plainly(const std::string& action, const std::map<std::string, std::string>& environment) {
    return run_child(beside_this_program("tessera_misuse_probe"), {action}, environment);
  }

  ScratchFolder scratch_;
  std::string probe_ = scratch_.path("probe");
};

TEST_F(SetUserIdTest, loads_no_plugin_from_a_folder_of_the_callers) {
  const std::string folder = beside_this_program("strange_plugins/no_entry");
  const std::map<std::string, std::string> environment{{"TESSERA_BACKEND_PATH", folder}};
  EXPECT_NE(run_plainly("backends", environment).output.find(folder), std::string::npos)
      << "without other rights it does";
  const ChildResult child = run("backends", environment);
  EXPECT_EQ(child.status, 0) << child.output;
  EXPECT_EQ(child.output.find(folder), std::string::npos) << child.output;
}

TEST_F(SetUserIdTest, leaves_the_list_of_backends_alone) {
  const std::map<std::string, std::string> environment{{"TESSERA_BACKENDS", "bogus"}};
  EXPECT_EQ(run_plainly("backends", environment).status, 3) << "without other rights it is an error";
  EXPECT_EQ(run("backends", environment).status, 0);
}

TEST_F(SetUserIdTest, opens_no_device_of_the_callers) {
  const std::map<std::string, std::string> environment{{"TESSERA_DEVICE", "cudda:0"}};
  EXPECT_NE(run_plainly("open", environment).output.find("cudda:0"), std::string::npos);
  EXPECT_EQ(run("open", environment).output.find("cudda:0"), std::string::npos);
}

TEST_F(SetUserIdTest, keeps_nothing_where_the_caller_says) {
  for (const char* variable : {"TESSERA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) {
    std::map<std::string, std::string> environment{{"TESSERA_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}};
    environment[variable] = scratch_.path("");
    EXPECT_NE(run_plainly("cache", environment).output.find(scratch_.path("")), std::string::npos) << variable;
    EXPECT_EQ(run("cache", environment).output, "cache \ndone\n") << variable;
  }
}

}  // namespace
}  // namespace tessera::testing_support
