// What the hardware did, as a record writes it and as a page says it; and caches that are emptied.
#include "tools/bench/hardware.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cpu_device_test.h"
#include "fake_problem.h"
#include "tools/bench/benchmark.h"
#include "tools/bench/cache_flush.h"

namespace tessera::tool {
namespace {

DeviceInfo gpu() {
  DeviceInfo info;
  info.kind = DeviceKind::gpu;
  info.compute_units = 132;
  info.instruction_set = "sm_90";
  return info;
}

LaunchFacts launch_of(std::uint64_t groups, std::uint64_t registers) {
  LaunchFacts facts;
  facts.function = "kernel";
  facts.launches = 1;
  facts.groups = groups;
  facts.group_size = 256;
  facts.registers = registers;
  facts.spilled_bytes = 16;
  facts.local_memory_bytes = 49152;
  facts.groups_per_unit = 2;
  facts.occupancy = 0.25;
  return facts;
}

TEST(HardwareTest, writes_what_the_driver_told_and_null_for_the_rest) {
  LaunchFacts unknown;
  unknown.launches = 3;
  const Json json = hardware_record(gpu(), {launch_of(10, 64), unknown});
  EXPECT_EQ(json.at("instruction_set"), "sm_90");
  EXPECT_TRUE(json.at("threads").is_null()) << "a GPU has no threads to count";
  EXPECT_EQ(json.at("launches").at(0).at("registers"), 64);
  EXPECT_EQ(json.at("launches").at(0).at("occupancy"), 0.25);
  EXPECT_EQ(json.at("launches").at(1).at("launches"), 3);
  for (const char* name :
       {"function", "registers", "spilled_bytes", "local_memory_bytes", "groups_per_unit", "occupancy"})
    EXPECT_TRUE(json.at("launches").at(1).at(name).is_null()) << name;
}

TEST(HardwareTest, tells_of_the_largest_launch_in_words) {
  EXPECT_EQ(hardware_words(hardware_record(gpu(), {launch_of(10, 64), launch_of(1000, 128), launch_of(20, 32)})),
            "sm_90, 128 registers, 16 B spilled, 48 KiB local, 2 groups a unit, 25 % occupied");
  DeviceInfo cpu;
  cpu.compute_units = 2;
  cpu.instruction_set = "AVX2";
  EXPECT_EQ(hardware_words(hardware_record(cpu, {})), "2 threads, AVX2");
}

TEST(HardwareTest, words_of_a_file_that_says_nonsense_are_few) {
  EXPECT_EQ(hardware_words(Json()), "");
  EXPECT_EQ(hardware_words(Json{{"threads", "many"}, {"launches", {3, "x", {{"registers", -1e300}}}}}), "");
  EXPECT_EQ(hardware_words(Json{{"launches", Json::object()}}), "");
}

TEST(CacheFlushTest, writes_past_the_caches) {
  DeviceInfo info = gpu();
  info.cache_bytes = std::uint64_t{50} << 20;
  EXPECT_GE(flush_bytes_of(info), 2 * info.cache_bytes);
  info.cache_bytes = 0;
  EXPECT_GE(flush_bytes_of(info), std::uint64_t{256} << 20) << "no driver tells it, so be sure";
  info.max_allocation_bytes = std::uint64_t{16} << 20;
  EXPECT_EQ(flush_bytes_of(info), info.max_allocation_bytes);
  // 128 threads may have 32 last-level caches between them.
  DeviceInfo server;
  server.compute_units = 128;
  server.cache_bytes = std::uint64_t{32} << 20;
  EXPECT_GE(flush_bytes_of(server), 32 * server.cache_bytes);
}

class ColdTest : public CpuDeviceTest {};

TEST_F(ColdTest, every_word_is_written_by_each_pass) {
  const OpenDevice& device = devices_.list.front();
  const CacheFlush flush(device.device, device.info);
  EXPECT_GE(flush.size_bytes(), 2 * device.info.cache_bytes);
  Queue queue(device.device);
  flush.enqueue(queue);
  flush.enqueue(queue);
  const std::vector<std::uint32_t> words = queue.download(flush.words()).get();
  EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](std::uint32_t word) { return word == 2; }));
}

TEST_F(ColdTest, a_cold_record_says_so_and_times_one_run) {
  const auto sets = fake::problem_sets({fake::Behaviour::right});
  const auto jobs = plan_jobs({.variants = {"plain"}}, sets, devices_.list, {conformance::Purpose::conformance});
  const auto measure = [&](bool cold) {
    Benchmark benchmark({.warm_up_s = 0.001, .min_time_s = 0.001, .cold = cold});
    return benchmark.run(jobs.at(0), Peaks{});
  };
  const BenchRecord cold = measure(true);
  ASSERT_EQ(cold.status, BenchStatus::verified) << cold.reason;
  EXPECT_EQ(to_json(cold).at("cold"), true);
  EXPECT_EQ(to_json(cold).at("flushed_bytes"), flush_bytes_of(devices_.list.front().info));
  EXPECT_EQ(cold.input_sets, 1U);
  // A run of the fake sleeps for a millisecond on the host; what empties the caches is not in that time.
  EXPECT_GE(cold.measurement->wall_s.median, 1e-3);
  EXPECT_EQ(cold.measurement->plan.batch, 1U);
  const BenchRecord warm = measure(false);
  EXPECT_EQ(to_json(warm).at("cold"), false);
  EXPECT_TRUE(to_json(warm).at("flushed_bytes").is_null());
}

}  // namespace
}  // namespace tessera::tool
