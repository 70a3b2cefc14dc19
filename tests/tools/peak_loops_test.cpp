// The loops and kernels behind the peaks compute and read what they claim to; caches are what the system tells.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tessera/tessera.h>

#include "support/scratch_folder.h"
#include "tools/peaks/cpu_bytes.h"
#include "tools/peaks/cpu_caches.h"
#include "tools/peaks/cpu_fma.h"
#include "tools/peaks/cpu_read.h"
#include "tools/peaks/read_kernels.h"

namespace tessera::tool {
namespace {

TEST(CpuFmaTest, computes_its_chains) {
  // Every chain of x = x * 0.5 + 1 ends at 2.
  EXPECT_FLOAT_EQ(cpu_fma<float>(0.5F, 1.0F, 200), 2.0F * kFmaChains * static_cast<float>(cpu_fma_lanes<float>()));
  EXPECT_DOUBLE_EQ(cpu_fma<double>(0.5, 1.0, 200), 2.0 * kFmaChains * cpu_fma_lanes<double>());
  // Of x = x + 1 each ends at what it began with and the number of steps: they begin at 1, 2, 3 and so on.
  const auto lanes = static_cast<std::uint32_t>(cpu_fma_lanes<std::uint32_t>());
  EXPECT_EQ(cpu_fma<std::uint32_t>(1, 1, 100), lanes * (kFmaChains * 100 + 78));
}

TEST(CpuDotTest, computes_its_chains) {
  const auto lanes = static_cast<std::uint32_t>(cpu_dot_lanes());
  EXPECT_GE(cpu_dot_operations(), 2.0 * kFmaChains * lanes);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") == 0) GTEST_SKIP() << "this CPU has no AVX-512 with VNNI";
  // 1 * 5 + 2 * 6 + 3 * 7 + 4 * 8 = 70 in each step; the chains begin at the term, the term + 1 and so on.
  constexpr std::uint32_t kTerm = 0x08070605;
  EXPECT_EQ(cpu_dot(0x04030201, kTerm, 100), lanes * (kFmaChains * (kTerm + 100 * 70) + 66));
#endif
}

TEST(CpuTilesTest, computes_its_products) {
  if (!cpu_has_tiles()) GTEST_SKIP() << "this CPU has no tiles, or the system does not let this process use them";
  // Of 256 sums in each of four tiles each step adds 64 products of 3 and 3.
  EXPECT_EQ(cpu_tiles(10), 10U * 4 * 256 * 64 * 9);
}

TEST(CpuReadTest, reads_every_word_of_whole_pieces) {
  std::vector<std::uint32_t> words(3 * kReadPiece / sizeof(std::uint32_t) + 5);
  std::uint32_t expected = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(i * 2654435761U + 1);
    if (i < 3 * kReadPiece / sizeof(std::uint32_t)) expected ^= words[i];
  }
  EXPECT_EQ(cpu_read(words, 1), expected);
  EXPECT_EQ(cpu_read(words, 2), 0U);
  EXPECT_EQ(cpu_read(words, 3), expected);
}

/// What groups must find that read `times` pieces of words, each time `turn` pieces on.
std::vector<std::uint32_t> pieces_read(const std::vector<std::uint32_t>& words, std::size_t groups, std::size_t turn,
                                       int times) {
  const std::size_t piece = words.size() / groups;
  std::vector<std::uint32_t> found(groups);
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t time = 0; time < static_cast<std::size_t>(times); ++time) {
      const std::size_t first = (group + time * turn) % groups * piece;
      for (std::size_t i = first; i < first + piece; ++i) found[group] ^= words[i];
    }
  }
  return found;
}

TEST(ReadProgramTest, reads_every_word_on_every_device) {
  for (const DeviceInfo& info : devices()) {
    SCOPED_TRACE(info.id);
    const Device device = open(info.id);
    const ReadProgram program = read_program(info);
    const std::size_t groups = program.shape.groups.volume(), items = program.shape.group_size.volume();
    std::vector<std::uint32_t> words(groups * 3 * kReadPiece / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761U + 1);
    const OwnKernel kernel = device.compile(program.source);
    const Buffer<std::uint32_t> from = device.upload<std::uint32_t>(words);
    const Buffer<std::uint32_t> results = device.allocate<std::uint32_t>(groups * items);
    Queue queue(device);
    for (const auto& [turn, times] : {std::pair(0U, 1), std::pair(0U, 3), std::pair(1U, 2), std::pair(3U, 5)}) {
      const BufferView<const std::uint32_t> source = from;
      queue.launch(kernel, program.shape, source, results, std::uint64_t{3 * kReadPiece}, turn,
                   static_cast<std::int32_t>(times));
      std::vector<std::uint32_t> parts(groups * items), found(groups);
      queue.download(results, parts);
      queue.finish();
      for (std::size_t i = 0; i < parts.size(); ++i) found[i / items] ^= parts[i];
      EXPECT_EQ(found, pieces_read(words, groups, turn, times)) << "turn " << turn << ", times " << times;
    }
  }
}

TEST(CpuCachesTest, are_read_as_the_system_tells) {
  const testing_support::ScratchFolder scratch;
  const auto write_cache = [&](int index, const char* type, int level, const char* size, const char* shared) {
    const std::string folder = "index" + std::to_string(index);
    std::filesystem::create_directories(scratch.path(folder));
    scratch.write(folder + "/type", std::string(type) + "\n");
    scratch.write(folder + "/level", std::to_string(level) + "\n");
    scratch.write(folder + "/size", std::string(size) + "\n");
    scratch.write(folder + "/shared_cpu_list", std::string(shared) + "\n");
  };
  write_cache(0, "Data", 1, "48K", "0,64");
  write_cache(1, "Instruction", 1, "32K", "0,64");
  write_cache(2, "Unified", 3, "96M", "0-7,64-71");
  write_cache(3, "Unified", 2, "2048K", "0,64");
  const std::vector<CpuCache> caches = cpu_caches(scratch.path("."));
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].size_bytes, 48U << 10U);
  EXPECT_EQ(caches[0].threads, 2U);
  EXPECT_EQ(caches[1].level, 2);
  EXPECT_EQ(caches[2].size_bytes, std::uint64_t{96} << 20U);
  EXPECT_EQ(caches[2].threads, 16U);
  EXPECT_TRUE(cpu_caches(scratch.path("nothing")).empty());
}

TEST(CpuCachesTest, counts_ranges) {
  EXPECT_EQ(count_of_ranges("0-3,8,12"), 6U);
  EXPECT_EQ(count_of_ranges("5"), 1U);
  EXPECT_EQ(count_of_ranges(""), 0U);
  EXPECT_EQ(count_of_ranges("x"), 0U);
}

}  // namespace
}  // namespace tessera::tool
