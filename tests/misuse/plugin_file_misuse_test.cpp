// Files that have a plug-in's name and are anything else: each in a folder of its own that a process of its own
// searches.
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/scratch_folder.h"

namespace tessera::testing_support {
namespace {

namespace fs = std::filesystem;

class PluginFileTest : public ::testing::Test {
 protected:
  /// What backends() says with the scratch folder as the only one that is searched first.
  std::string backends() {
    const ChildResult child = run_child(beside_this_program("tessera_misuse_probe"), {"backends"},
                                        {{"TESSERA_BACKEND_PATH", scratch_.path("")}});
    EXPECT_EQ(child.signal, 0) << "it crashes";
    EXPECT_EQ(child.status, 0) << child.output;
    return child.output;
  }
  void expect_refused(const std::string& part) {
    const std::string output = backends();
    EXPECT_NE(output.find("cuda refused: " + scratch_.path(kName) + " " + part), std::string::npos) << output;
  }
  static std::string plugin_bytes() {
    std::ifstream file(beside_this_program("strange_plugins/no_entry/libtessera_cuda.so"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static constexpr const char* kName = "libtessera_cuda.so";
  ScratchFolder scratch_;
};

TEST_F(PluginFileTest, a_fifo_does_not_hold_the_program_up) {
  ASSERT_EQ(::mkfifo(scratch_.path(kName).c_str(), 0600), 0);
  expect_refused("is a FIFO, but must be a regular file");
}

TEST_F(PluginFileTest, a_folder_is_refused) {
  fs::create_directory(scratch_.path(kName));
  expect_refused("is a folder, but must be a regular file");
}

TEST_F(PluginFileTest, a_link_to_a_device_is_refused) {
  fs::create_symlink("/dev/zero", scratch_.path(kName));
  expect_refused("is a device node, but must be a regular file");
}

TEST_F(PluginFileTest, one_that_is_cut_off_does_not_crash_wherever_the_cut_is) {
  const std::string whole = plugin_bytes();
  ASSERT_GT(whole.size(), 4096U);
  scratch_.write(kName, whole);
  EXPECT_NE(backends().find("is no plug-in: it has no symbol"), std::string::npos) << "the whole file loads";
  for (std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{100}, std::size_t{400},
        std::size_t{1000}, std::size_t{4096}, std::size_t{8192}, std::size_t{12288}}) {
    if (size >= whole.size()) continue;
    SCOPED_TRACE(size);
    scratch_.write(kName, whole.substr(0, size));
    expect_refused(size < 64 ? "has " + std::to_string(size) + " bytes, too few for a library" : "is cut off: it has ");
  }
}

TEST_F(PluginFileTest, headers_that_promise_too_much_are_refused) {
  // Where a 64-bit header holds the place of the program headers, and how many there are.
  std::string bytes = plugin_bytes();
  const std::uint64_t far_away = UINT64_MAX - 7;
  std::memcpy(bytes.data() + 32, &far_away, sizeof far_away);
  scratch_.write(kName, bytes);
  expect_refused("is cut off: it has ");

  bytes = plugin_bytes();
  const std::uint16_t many = 0xFFFF;
  std::memcpy(bytes.data() + 56, &many, sizeof many);
  scratch_.write(kName, bytes);
  expect_refused("is cut off: it has ");

  bytes = plugin_bytes();
  const std::uint64_t endless = UINT64_MAX;  // the size in the file of the second segment
  std::memcpy(bytes.data() + 64 + 56 + 32, &endless, sizeof endless);
  scratch_.write(kName, bytes);
  expect_refused("is damaged: a segment in its headers has no end");
}

TEST_F(PluginFileTest, control_characters_in_a_name_do_not_reach_a_terminal) {
  for (const char* name : {"libtessera_a\x1b[2Jb.so", "libtessera_line\nbreak.so", "libtessera_c\xc2\x9b.so"}) {
    scratch_.write(name, plugin_bytes());
  }
  const std::string output = backends();
  EXPECT_EQ(output.find('\x1b'), std::string::npos) << output;
  EXPECT_EQ(output.find('\x9b'), std::string::npos) << output;
  for (const char* part : {"\na\\x1b[2Jb refused: the plug-in's name is 'a\\x1b[2Jb', but",
                           "\nline\\x0abreak refused: ", "\nc\\xc2\\x9b refused: "}) {
    EXPECT_NE(output.find(part), std::string::npos) << part << "\n" << output;
  }
}

TEST_F(PluginFileTest, control_characters_in_variables_do_not_reach_a_terminal) {
  for (const char* variable : {"TESSERA_BACKENDS", "TESSERA_BACKEND_PATH", "TESSERA_CACHE_DIR"}) {
    const bool is_cache = std::strcmp(variable, "TESSERA_CACHE_DIR") == 0;
    const ChildResult child = run_child(beside_this_program("tessera_misuse_probe"), {is_cache ? "cache" : "backends"},
                                        {{variable, "x\x1b[2J\ny"}});
    EXPECT_EQ(child.status, 3) << child.output;
    EXPECT_NE(child.output.find("'x\\x1b[2J\\x0ay'"), std::string::npos) << child.output;
  }
}

}  // namespace
}  // namespace tessera::testing_support
