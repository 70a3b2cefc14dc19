// The child processes that tests start: what they inherit and what they do not.
#include "support/child_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace tessera::testing_support {
namespace {

/// A variable of this process while the object lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string environment_of_a_child(const std::map<std::string, std::string>& changes) {
  const ChildResult child = run_child("/usr/bin/env", {}, changes);
  EXPECT_EQ(child.status, 0) << child.output;
  return "\n" + child.output;
}

TEST(ChildProcessTest, inherits_the_environment_with_changes) {
  const Variable kept("TESSERA_SELF_TEST_KEPT", "kept");
  const Variable gone("TESSERA_SELF_TEST_GONE", "gone");
  const std::string found = environment_of_a_child({{"TESSERA_SELF_TEST_GONE", ""}, {"TESSERA_SELF_TEST_NEW", "new"}});
  EXPECT_NE(found.find("\nTESSERA_SELF_TEST_KEPT=kept\n"), std::string::npos);
  EXPECT_NE(found.find("\nTESSERA_SELF_TEST_NEW=new\n"), std::string::npos);
  EXPECT_EQ(found.find("TESSERA_SELF_TEST_GONE"), std::string::npos);
}

TEST(ChildProcessTest, runs_all_its_tests_where_its_parent_runs_a_share) {
  const Variable total("GTEST_TOTAL_SHARDS", "7");
  const Variable index("GTEST_SHARD_INDEX", "3");
  const Variable status("GTEST_SHARD_STATUS_FILE", "/nowhere/at/all");
  EXPECT_EQ(environment_of_a_child({}).find("SHARD"), std::string::npos);
}

TEST(ChildProcessTest, tells_how_it_ended) {
  EXPECT_EQ(run_child("/usr/bin/env", {"false"}, {}).status, 1);
  EXPECT_EQ(run_child("/nowhere/at/all", {}, {}).status, 127);
  const ChildResult killed = run_child("/bin/sh", {"-c", "echo words; kill -TERM $$"}, {});
  EXPECT_EQ(killed.signal, 15);
  EXPECT_EQ(killed.status, -1);
  EXPECT_EQ(killed.output, "words\n");
}

}  // namespace
}  // namespace tessera::testing_support
