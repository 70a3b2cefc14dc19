// Bad values of the library's environment variables, and files that are not what their name says. Each in a process of
// its own with that environment.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "each_device.h"
#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::testing_support {
namespace {

namespace fs = std::filesystem;

using Environment = std::map<std::string, std::string>;

ChildResult probe(const std::vector<std::string>& arguments, const Environment& environment) {
  return run_child(beside_this_program("tessera_misuse_probe"), arguments, environment);
}

void expect_error(const ChildResult& child, const std::string& code, const std::vector<std::string>& parts) {
  EXPECT_EQ(child.signal, 0) << "it crashes";
  EXPECT_EQ(child.status, 3) << child.output;
  EXPECT_TRUE(contains(child.output, "error " + code));
  for (const std::string& part : parts) EXPECT_TRUE(contains(child.output, part));
}

void expect_done(const ChildResult& child, const std::vector<std::string>& parts) {
  EXPECT_EQ(child.signal, 0) << "it crashes";
  EXPECT_EQ(child.status, 0) << child.output;
  for (const std::string& part : parts) EXPECT_TRUE(contains(child.output, part));
}

TEST(BackendsVariableTest, an_unknown_name_lists_the_known_ones) {
  for (const char* value : {"bogus", "cpu_tbb,bogus", "bogus,"}) {
    const ChildResult child = probe({"backends"}, {{"TESSERA_BACKENDS", value}});
    expect_error(child, "invalid_argument", {"TESSERA_BACKENDS", "'bogus'", "cuda", "opencl", "cpu_tbb"});
  }
  expect_error(probe({"backends"}, {{"TESSERA_BACKENDS", "cpu"}}), "invalid_argument", {"'cpu'", "cpu_tbb"});
  expect_error(probe({"open", "cpu:0"}, {{"TESSERA_BACKENDS", "bogus"}}), "invalid_argument", {"'bogus'"});
}

TEST(BackendsVariableTest, what_it_does_not_name_is_disabled_and_says_so) {
  const ChildResult child = probe({"backends"}, {{"TESSERA_BACKENDS", "cpu_tbb"}});
  expect_done(child, {"cuda disabled: ", "opencl disabled: ", "$TESSERA_BACKENDS"});
  expect_error(probe({"open", "opencl:0"}, {{"TESSERA_BACKENDS", "cpu_tbb"}}), "unavailable",
               {"opencl:0", "disabled", "$TESSERA_BACKENDS"});
}

TEST(DeviceVariableTest, a_bad_value_is_told_as_such) {
  expect_error(probe({"open"}, {{"TESSERA_DEVICE", "cudda:0"}}), "invalid_argument", {"cudda:0", "$TESSERA_DEVICE"});
  expect_error(probe({"open"}, {{"TESSERA_DEVICE", "cpu:99"}}), "unavailable", {"cpu:99", "$TESSERA_DEVICE"});
  const std::string last = device_ids().back();
  expect_done(probe({"open"}, {{"TESSERA_DEVICE", last}}), {"opened " + last, "$TESSERA_DEVICE"});
  // A name wins over the variable, and an empty variable is none.
  expect_done(probe({"open", last}, {{"TESSERA_DEVICE", "cudda:0"}}), {"opened " + last});
}

TEST(BackendPathVariableTest, a_relative_folder_is_refused) {
  const ChildResult child = probe({"backends"}, {{"TESSERA_BACKEND_PATH", "plugins"}});
  expect_error(child, "invalid_argument", {"$TESSERA_BACKEND_PATH", "'plugins'", "absolute"});
}

TEST(BackendPathVariableTest, a_folder_that_is_not_there_changes_nothing) {
  expect_done(probe({"open"}, {{"TESSERA_BACKEND_PATH", "/nonexistent/folder"}}), {"opened"});
}

TEST(BackendPathVariableTest, a_file_that_is_no_library_is_refused_with_a_reason) {
  const ScratchFolder folder;
  std::ofstream(folder.path("libtessera_cuda.so")) << "this is no shared library\n";
  const ChildResult child = probe({"backends"}, {{"TESSERA_BACKEND_PATH", folder.path()}});
  expect_done(child, {"cuda refused: ", "libtessera_cuda.so"});
  expect_error(probe({"open", "cuda:0"}, {{"TESSERA_BACKEND_PATH", folder.path()}}), "unavailable",
               {"cuda:0", "refused"});
}

TEST(BackendPathVariableTest, a_library_without_the_entry_is_refused_with_a_reason) {
  const std::string folder = beside_this_program("strange_plugins/no_entry");
  expect_done(probe({"backends"}, {{"TESSERA_BACKEND_PATH", folder}}),
              {"cuda refused: ", folder, "tessera_backend_entry"});
}

TEST(BackendPathVariableTest, a_plugin_of_another_seam_is_refused_with_both_versions) {
  const std::string folder = beside_this_program("strange_plugins/other_seam");
  expect_done(probe({"backends"}, {{"TESSERA_BACKEND_PATH", folder}}),
              {"cuda refused: ", "987654", "9.8.7", TESSERA_VERSION});
}

TEST(CacheVariableTest, a_relative_folder_is_refused) {
  expect_error(probe({"cache"}, {{"TESSERA_CACHE_DIR", "relative/cache"}}), "invalid_argument",
               {"$TESSERA_CACHE_DIR", "'relative/cache'", "absolute"});
}

class CacheMisuseTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(CacheMisuseTest);

/// The same code as above or the right result, and never a crash.
TEST_P(CacheMisuseTest, kernels_with_a_relative_folder) {
  const ChildResult child = probe({"product", GetParam()}, {{"TESSERA_CACHE_DIR", "relative/cache"}});
  EXPECT_EQ(child.signal, 0) << "it crashes";
  if (child.status == 0) {
    expect_done(child, {"product 7 10 15 22"});
  } else {
    expect_error(child, "invalid_argument", {"$TESSERA_CACHE_DIR", "'relative/cache'"});
  }
}

TEST_P(CacheMisuseTest, a_folder_that_cannot_be_made_only_costs_time) {
  expect_done(probe({"product", GetParam()}, {{"TESSERA_CACHE_DIR", "/proc/no/such/cache"}}), {"product 7 10 15 22"});
}

TEST_P(CacheMisuseTest, damaged_files_are_not_trusted) {
  const ScratchFolder folder;
  const Environment environment{{"TESSERA_CACHE_DIR", folder.path()}};
  expect_done(probe({"product", GetParam()}, environment), {"product 7 10 15 22"});
  for (const char* damage : {"cut", "flipped", "emptied", "foreign"}) {
    SCOPED_TRACE(damage);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) continue;
      const auto size = fs::file_size(entry.path());
      const std::string kind = damage;
      if (kind == "cut") fs::resize_file(entry.path(), size / 2);
      if (kind == "emptied") fs::resize_file(entry.path(), 0);
      if (kind == "foreign") std::ofstream(entry.path()) << "something else altogether\n";
      if (kind == "flipped" && size > 0) {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(size - 1));
        const char last = static_cast<char>(file.get());
        file.seekp(static_cast<std::streamoff>(size - 1));
        file.put(static_cast<char>(last ^ 0x55));
      }
    }
    expect_done(probe({"product", GetParam()}, environment), {"product 7 10 15 22"});
  }
}

}  // namespace
}  // namespace tessera::testing_support
