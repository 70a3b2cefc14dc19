// Volumes of patch_match that pass a limit of memory, on every device: the stacks are those of one piece, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "each_device.h"
#include "stream_limits.h"

namespace tessera::testing_support {
namespace {

/// A volume in the host's memory, and its stacks.
template <class T>
struct HostVolume {
  using Found = std::conditional_t<std::is_same_v<T, float>, float, std::int64_t>;

  explicit HostVolume(const PatchMatch& of) : problem(of) {
    problem.type = data_type_of<T>;
    std::uint64_t state = 3;
    for (std::int64_t i = 0; i < problem.size.product(); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      volume.push_back(static_cast<T>(state >> 61));  // few numbers, so that many distances are equal
    }
    if constexpr (std::is_same_v<T, float>) volume[volume.size() / 2] = std::numeric_limits<float>::infinity();
    const auto references = static_cast<std::size_t>(problem.references().product());
    counts.resize(references);
    distances.resize(references * static_cast<std::size_t>(problem.max_patches));
    indices.resize(distances.size());
  }

  [[nodiscard]] std::string bits_in_one_piece(const Device& device, const std::string& variant) {
    Queue queue(device);
    const auto kernel = device.kernel(problem, {.variant = variant});
    const auto on_device = device.upload<T>(volume);
    const auto c = device.allocate<std::int32_t>(counts.size());
    const auto d = device.allocate<Found>(distances.size());
    const auto i = device.allocate<std::int64_t>(indices.size());
    queue.run(kernel, {.volume = on_device, .counts = c, .distances = d, .indices = i});
    counts = queue.download(c).get();
    distances = queue.download(d).get();
    indices = queue.download(i).get();
    return bits();
  }
  [[nodiscard]] std::string streamed_bits(const Device& device, const StreamOptions& options, StreamReport& report) {
    std::fill(counts.begin(), counts.end(), -77);
    std::fill(distances.begin(), distances.end(), Found(-77));
    std::fill(indices.begin(), indices.end(), -77);
    report = stream(device, problem, {.volume = volume, .counts = counts, .distances = distances, .indices = indices},
                    options);
    return bits();
  }

  PatchMatch problem;
  std::vector<T> volume;
  std::vector<std::int32_t> counts;
  std::vector<Found> distances;
  std::vector<std::int64_t> indices;

 private:
  [[nodiscard]] std::string bits() const {
    std::string all;
    const auto add = [&](const auto& numbers) {
      all.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0]));
    };
    add(counts), add(distances), add(indices);
    return all;
  }
};

class PatchStreamTest : public EachDevice {
 protected:
  /// Those that compute slabs.
  [[nodiscard]] std::vector<std::string> variants(const PatchMatch& problem) const {
    std::vector<std::string> names;
    for (const VariantReport& report : explain(problem, device())) {
      if (report.can_run) names.push_back(report.variant);
    }
    return names;
  }
  /// In one piece and with ever less memory, by every variant, down to one plane of references.
  template <class T>
  void expect_same_bits(const PatchMatch& problem) {
    HostVolume<T> host(problem);
    const std::vector<std::string> all = variants(host.problem);
    if (all.empty()) GTEST_SKIP() << GetParam() << " offers no variant of patch_match";
    const auto planes = static_cast<std::size_t>(host.problem.references().*host.problem.slab_axis());
    const std::string expected = host.bits_in_one_piece(device(), all.back());
    for (const std::string& variant : all) {
      SCOPED_TRACE(variant);
      StreamReport report;
      EXPECT_TRUE(host.streamed_bits(device(), {.kernel = {.variant = variant}}, report) == expected);
      EXPECT_EQ(report.slabs.size(), 1U) << "it fits";
      const std::set<std::size_t> slabs = slabs_of_smaller_limits(report.memory_bytes, [&](std::uint64_t limit) {
        const std::string bits =
            host.streamed_bits(device(), {.kernel = {.variant = variant}, .memory_bytes = limit}, report);
        EXPECT_TRUE(bits == expected) << report.slabs.size() << " slabs";
        EXPECT_EQ(report.kernel.variant, variant);
        return report;
      });
      ASSERT_FALSE(slabs.empty());
      EXPECT_EQ(*slabs.rbegin(), planes) << "never one plane of references at a time";
      EXPECT_GE(slabs.size(), 2U) << "cut in one way alone";
    }
  }
};
TESSERA_ON_EACH_DEVICE(PatchStreamTest);

TEST_P(PatchStreamTest, bytes_whose_step_does_not_divide) {
  expect_same_bits<std::uint8_t>({.size = {19, 14, 41},
                                  .patch = {3, 2, 3},
                                  .window = {5, 6, 7},
                                  .step = {4, 5, 3},
                                  .max_patches = 9,
                                  .threshold = 400});
}

TEST_P(PatchStreamTest, floats_with_more_places_than_candidates) {
  expect_same_bits<float>(
      {.size = {13, 9, 30}, .patch = {2, 2, 4}, .window = {2, 2, 3}, .step = {3, 3, 4}, .max_patches = 16});
}

TEST_P(PatchStreamTest, steps_longer_than_what_a_reference_reaches) {
  expect_same_bits<std::uint16_t>(
      {.size = {12, 12, 60}, .patch = {2, 2, 1}, .window = {4, 4, 2}, .step = {5, 5, 11}, .max_patches = 9});
}

TEST_P(PatchStreamTest, windows_beyond_the_volume) {
  expect_same_bits<std::uint8_t>(
      {.size = {8, 7, 6}, .patch = {2, 2, 2}, .window = {64, 3, 64}, .step = {2, 2, 1}, .max_patches = 64});
}

TEST_P(PatchStreamTest, an_image_is_cut_along_y) {
  expect_same_bits<float>({.size = {33, 45, 1}, .patch = {4, 3, 1}, .window = {7, 8, 1}, .step = {2, 4, 1}});
}

TEST_P(PatchStreamTest, a_line_is_cut_along_x) {
  expect_same_bits<std::uint8_t>(
      {.size = {30000, 1, 1}, .patch = {5, 1, 1}, .window = {21, 1, 1}, .step = {700, 1, 1}, .max_patches = 9});
}

TEST_P(PatchStreamTest, copies_go_beside_computation) {
  // A fast card has searched small windows before the host has started the next copy. Wider ones take it longer, while
  // slabs and copies stay as they are.
  StreamReport report;
  for (const std::int64_t width : {7, 15, 31, 63}) {
    HostVolume<std::uint8_t> host(
        {.size = {96, 64, 64}, .patch = {4, 4, 4}, .window = {width, width, 7}, .step = {3, 3, 3}, .max_patches = 8});
    if (variants(host.problem).empty()) GTEST_SKIP() << GetParam() << " offers no variant of patch_match";
    static_cast<void>(host.streamed_bits(device(), {}, report));
    static_cast<void>(host.streamed_bits(device(), {.memory_bytes = report.memory_bytes * 2 / 3}, report));
    ASSERT_GE(report.slabs.size(), 3U);
    if (has_overlap(report)) return;
  }
  ADD_FAILURE() << "no copy beside the longest computation:\n" << times_of(report);
}

TEST_P(PatchStreamTest, a_problem_that_is_a_slab_is_not_streamed) {
  HostVolume<std::uint8_t> host({.size = {8, 8, 8}, .patch = {2, 2, 2}, .window = {3, 3, 3}});
  host.problem.slab = {.first_slice = 0, .slices = 8, .first_reference = 0, .references = 7};
  StreamReport report;
  expect_refused(refusal_of([&] { static_cast<void>(host.streamed_bits(device(), {}, report)); }),
                 {"a slab of patch_match already", "8 slices"});
}

}  // namespace
}  // namespace tessera::testing_support
