// Volumes of denoise that pass a limit of memory, on every device: the bits are those of one piece, the limit is kept
// to, copies go beside computation, and the plan is what happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "denoise/host_denoise.h"
#include "each_device.h"
#include "stream_limits.h"

namespace tessera::testing_support {
namespace {

/// Small patches and windows, so that small volumes have many pieces.
Denoise volume_problem(const PerAxis& size, DenoiseStage stage = DenoiseStage::both) {
  const DenoiseStep hard{.patch = {2, 2, 2}, .window = {3, 5, 4}, .step = {2, 3, 3}, .max_patches = 8};
  const DenoiseStep wiener{.patch = {2, 4, 1}, .window = {3, 3, 6}, .step = {1, 2, 2}, .max_patches = 16};
  return {.size = size, .sigma = 9, .range = 255, .stage = stage, .hard = hard, .wiener = wiener};
}
Denoise image_problem(const PerAxis& size, std::int64_t channels) {
  const DenoiseStep step{.patch = {4, 4, 1}, .window = {5, 7, 1}, .step = {3, 3, 1}, .max_patches = 8};
  return {.size = size, .channels = channels, .sigma = 9, .range = 255, .hard = step, .wiener = step};
}

class DenoiseStreamTest : public EachDevice {
 protected:
  void SetUp() override {
    if (variants(volume_problem({8, 8, 40})).empty()) GTEST_SKIP() << GetParam() << " offers no variant of denoise";
  }
  [[nodiscard]] std::vector<std::string> variants(const Denoise& problem) const {
    std::vector<std::string> names;
    for (const VariantReport& report : explain(problem, device())) {
      if (report.can_run) names.push_back(report.variant);
    }
    return names;
  }
  /// The least limit that is not refused.
  [[nodiscard]] std::uint64_t least_limit(const Denoise& problem, const std::string& variant,
                                          std::uint64_t enough) const {
    std::uint64_t refused = 1;
    while (enough - refused > 1) {
      const std::uint64_t middle = refused + (enough - refused) / 2;
      try {
        static_cast<void>(plan_stream(device(), problem, {.kernel = {.variant = variant}, .memory_bytes = middle}));
        enough = middle;
      } catch (const Error&) {
        refused = middle;
      }
    }
    return enough;
  }
  [[nodiscard]] static std::size_t slabs_of(const DenoiseStreamPlan& plan) {
    std::int64_t slabs = 0;
    for (const DenoisePieces& pass : plan.passes) slabs += pass.count();
    return static_cast<std::size_t>(slabs);
  }
  /// In one piece, with less memory, and with the least, by every variant.
  template <class T>
  void expect_same_bits(const Denoise& problem, std::int64_t PerAxis::*axis) {
    SCOPED_TRACE(to_string(data_type_of<T>));
    HostDenoise<T> host(problem);
    const std::vector<std::string> all = variants(host.problem);
    ASSERT_FALSE(all.empty());
    const std::string expected = host.bits_in_one_piece(device(), all.back());
    for (const std::string& variant : all) {
      SCOPED_TRACE(variant);
      StreamReport report;
      EXPECT_TRUE(host.streamed_bits(device(), {.kernel = {.variant = variant}}, report) == expected);
      EXPECT_EQ(report.slabs.size(), 1U) << "it fits";
      const std::uint64_t whole_bytes = report.memory_bytes;
      const std::uint64_t least = least_limit(host.problem, variant, whole_bytes);
      ASSERT_LT(least, whole_bytes);
      std::set<std::size_t> slabs;
      for (const std::uint64_t limit :
           {least, least + (whole_bytes - least) / 8, least + (whole_bytes - least) / 2, whole_bytes - 1}) {
        SCOPED_TRACE("a limit of " + std::to_string(limit) + " bytes");
        const StreamOptions options{.kernel = {.variant = variant}, .memory_bytes = limit};
        const DenoiseStreamPlan plan = plan_stream(device(), host.problem, options);
        EXPECT_TRUE(host.streamed_bits(device(), options, report) == expected);
        EXPECT_EQ(report.kernel.variant, variant);
        EXPECT_LE(report.memory_bytes, limit);
        EXPECT_EQ(report.memory_bytes, plan.memory_bytes);
        EXPECT_EQ(report.slabs.size(), slabs_of(plan));
        for (const DenoisePieces& pass : plan.passes)
          EXPECT_TRUE(pass.count() == 1 || pass.axis() == axis) << "cut along another axis";
        slabs.insert(report.slabs.size());
      }
      EXPECT_GE(slabs.size(), 2U) << "cut in one way alone";
      EXPECT_GE(*slabs.rbegin(), 6U) << "never in small pieces";
      expect_refused(refusal_of([&] {
                       static_cast<void>(host.streamed_bits(
                           device(), {.kernel = {.variant = variant}, .memory_bytes = least - 1}, report));
                     }),
                     {"denoise with ", " planes along ", " at a time needs " + std::to_string(least) + " bytes on ",
                      "volume ", "result ", "but memory_bytes is " + std::to_string(least - 1)});
    }
  }
};
TESSERA_ON_EACH_DEVICE(DenoiseStreamTest);

TEST_P(DenoiseStreamTest, both_steps_of_a_volume) {
  expect_same_bits<std::uint8_t>(volume_problem({13, 11, 101}), &PerAxis::z);
  expect_same_bits<float>(volume_problem({13, 11, 101}), &PerAxis::z);
}

TEST_P(DenoiseStreamTest, each_step_by_itself) {
  expect_same_bits<std::uint16_t>(volume_problem({13, 11, 101}, DenoiseStage::wiener), &PerAxis::z);
  expect_same_bits<float>(volume_problem({13, 11, 102}, DenoiseStage::wiener), &PerAxis::z);
  expect_same_bits<float>(volume_problem({13, 11, 103}, DenoiseStage::hard_threshold), &PerAxis::z);
}

TEST_P(DenoiseStreamTest, a_flat_volume_is_cut_along_its_longer_axis) {
  expect_same_bits<std::uint16_t>(volume_problem({11, 101, 9}), &PerAxis::y);
  expect_same_bits<float>(volume_problem({101, 11, 9}), &PerAxis::x);
}

TEST_P(DenoiseStreamTest, images_and_colours) {
  expect_same_bits<std::uint8_t>(image_problem({31, 151, 1}, 1), &PerAxis::y);
  expect_same_bits<float>(image_problem({31, 152, 1}, 3), &PerAxis::y);
  Denoise colours = volume_problem({9, 8, 101});
  colours.channels = 3;
  expect_same_bits<std::uint8_t>(colours, &PerAxis::z);
}

TEST_P(DenoiseStreamTest, steps_longer_than_what_a_reference_reaches) {
  Denoise problem = volume_problem({13, 11, 160});
  problem.hard.step.z = 11;
  problem.wiener.step.z = 9;
  expect_same_bits<float>(problem, &PerAxis::z);
}

TEST_P(DenoiseStreamTest, no_noise_is_a_copy_and_very_much_leaves_nothing) {
  Denoise problem = volume_problem({13, 11, 101});
  problem.sigma = 0;
  expect_same_bits<float>(problem, &PerAxis::z);
  HostDenoise<float> host(problem);
  StreamReport report;
  static_cast<void>(host.streamed_bits(device(), {}, report));
  static_cast<void>(host.streamed_bits(device(), {.memory_bytes = report.memory_bytes - 1}, report));
  EXPECT_GT(report.slabs.size(), 1U);
  EXPECT_EQ(std::memcmp(host.result.data(), host.volume.data(), host.volume.size() * sizeof(float)), 0);
  problem.sigma = 1e30;
  expect_same_bits<float>(problem, &PerAxis::z);
}

TEST_P(DenoiseStreamTest, windows_beyond_the_volume_take_it_whole) {
  Denoise problem = volume_problem({9, 9, 30});
  problem.hard.window = problem.wiener.window = {64, 64, 64};
  HostDenoise<std::uint8_t> host(problem);
  StreamReport report;
  const std::string expected = host.streamed_bits(device(), {}, report);
  EXPECT_TRUE(expected == host.bits_in_one_piece(device(), ""));
  const std::uint64_t least = least_limit(host.problem, "", report.memory_bytes);
  expect_refused(
      refusal_of([&] { static_cast<void>(host.streamed_bits(device(), {.memory_bytes = least - 1}, report)); }),
      {"denoise with all of the volume, 9 x 9 x 30 voxels, at a time needs " + std::to_string(least)});
}

TEST_P(DenoiseStreamTest, the_limit_holds_for_what_the_device_sees) {
  const Device device = fresh_device();
  HostDenoise<float> host(volume_problem({40, 40, 300}));
  StreamReport report;
  static_cast<void>(host.streamed_bits(device, {}, report));
  EXPECT_LE(device.memory().peak_bytes, report.memory_bytes);
  const Device other = fresh_device();
  const std::uint64_t limit = report.memory_bytes / 2;
  // The edges' pieces need less than those between them.
  std::atomic<bool> is_over = false;
  std::uint64_t most = 0;
  std::thread watch([&] {
    while (!is_over) {
      const MemoryStatistics memory = other.memory();
      most = std::max(most, memory.in_use_bytes + memory.pending_bytes);
      std::this_thread::yield();
    }
  });
  static_cast<void>(host.streamed_bits(other, {.memory_bytes = limit}, report));
  is_over = true;
  watch.join();
  EXPECT_LE(most, limit) << "with what is given back while a run still uses it";
  EXPECT_GT(report.slabs.size(), 4U);
  EXPECT_LE(other.memory().peak_bytes, limit);
  EXPECT_GT(other.memory().peak_bytes, limit / 2) << "what is there is made use of";
  EXPECT_EQ(other.memory().in_use_bytes, 0U);
}

TEST_P(DenoiseStreamTest, the_plan_tells_of_both_passes) {
  HostDenoise<float> host(volume_problem({40, 40, 300}));
  DenoiseStreamPlan plan = plan_stream(device(), host.problem);
  ASSERT_EQ(plan.passes.size(), 1U) << "it fits";
  EXPECT_EQ(plan.passes[0].whole(), host.problem);
  EXPECT_EQ(plan.passes[0].count(), 1);
  EXPECT_EQ(plan.host_bytes, 0U);
  plan = plan_stream(device(), host.problem, {.memory_bytes = plan.memory_bytes / 4 * 3});
  ASSERT_EQ(plan.passes.size(), 2U);
  EXPECT_EQ(plan.passes[0].whole().stage, DenoiseStage::hard_threshold);
  EXPECT_EQ(plan.passes[1].whole().stage, DenoiseStage::wiener);
  EXPECT_EQ(plan.host_bytes, host.volume.size() * sizeof(float));
  EXPECT_TRUE(plan.copies_overlap);
  // Half as large pieces would repeat too much of each other.
  const std::uint64_t least = least_limit(host.problem, "", plan.memory_bytes);
  plan = plan_stream(device(), host.problem, {.memory_bytes = least});
  EXPECT_EQ(plan.memory_bytes, least);
  EXPECT_FALSE(plan.copies_overlap);
}

TEST_P(DenoiseStreamTest, copies_go_beside_computation) {
  // A fast card may have denoised with small windows before the host has started the next copy.
  StreamReport report;
  for (const std::int64_t width : {9, 17, 33}) {
    Denoise problem = volume_problem({32, 32, 640});
    problem.hard.window = problem.wiener.window = {width, width, 5};
    HostDenoise<float> host(problem);
    static_cast<void>(host.streamed_bits(device(), {}, report));
    static_cast<void>(host.streamed_bits(device(), {.memory_bytes = report.memory_bytes * 4 / 5}, report));
    ASSERT_GE(report.slabs.size(), 4U);
    expect_slabs_in_order(report);
    if (has_overlap(report)) return;
  }
  ADD_FAILURE() << "no copy beside the longest computation:\n" << times_of(report);
}

TEST_P(DenoiseStreamTest, what_the_program_throws_ends_the_stream) {
  const Device device = fresh_device();
  HostDenoise<std::uint8_t> host(volume_problem({13, 11, 101}));
  StreamReport report;
  const std::string expected = host.streamed_bits(device, {}, report);
  const std::uint64_t least = least_limit(host.problem, report.kernel.variant, report.memory_bytes);
  StreamOptions options{.kernel = {.variant = report.kernel.variant}, .memory_bytes = least};
  const auto first_pass = static_cast<std::int64_t>(plan_stream(device, host.problem, options).passes[0].count());
  std::vector<std::int64_t> told;
  options.progress = [&](const StreamProgress& progress) {
    told.push_back(progress.done);
    if (progress.done == first_pass + 1) throw std::range_error("enough");
  };
  EXPECT_THROW(static_cast<void>(host.streamed_bits(device, options, report)), std::range_error);
  ASSERT_EQ(static_cast<std::int64_t>(told.size()), first_pass + 1) << "the second pass counts on";
  for (std::int64_t done = 0; done <= first_pass; ++done) EXPECT_EQ(told[static_cast<std::size_t>(done)], done + 1);
  EXPECT_EQ(device.memory().in_use_bytes, 0U);
  told.clear();
  options.progress = [&](const StreamProgress& progress) { told.push_back(progress.slabs); };
  EXPECT_TRUE(host.streamed_bits(device, options, report) == expected) << "after a stream that was ended";
  EXPECT_EQ(told, std::vector<std::int64_t>(report.slabs.size(), static_cast<std::int64_t>(report.slabs.size())));
}

}  // namespace
}  // namespace tessera::testing_support
