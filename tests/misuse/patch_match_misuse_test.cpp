// Wrong problems and operands of patch_match on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int64_t>::max();
const std::string kLargestBytes = std::to_string(std::int64_t{1} << 48) + " bytes";

/// 4 x 3 x 2 voxels, of which 3 x 2 x 1 patches are references, with 2 places each.
PatchMatch small_match() {
  return {.size = {4, 3, 2}, .patch = {2, 2, 2}, .window = {3, 3, 3}, .max_patches = 2};
}

class PatchMatchMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(small_match(), device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of patch_match";
    volume_ = device().upload<float>(std::vector<float>(24, 1.0F));
    counts_ = device().upload<std::int32_t>(std::vector<std::int32_t>(6, -3));
    distances_ = device().allocate<float>(12);
    indices_ = device().allocate<std::int64_t>(12);
  }
  [[nodiscard]] PatchMatch::Operands operands() const {
    return {.volume = volume_, .counts = counts_, .distances = distances_, .indices = indices_};
  }
  void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
  }
  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const PatchMatch::Operands& operands, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    Queue queue(device());
    const auto kernel = device().kernel(small_match());
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(counts_).get(), std::vector<std::int32_t>(6, -3)) << "a refused run wrote";
    queue.finish();
  }

  Buffer<float> volume_;
  Buffer<std::int32_t> counts_;
  Buffer<float> distances_;
  Buffer<std::int64_t> indices_;
};
TESSERA_ON_EACH_DEVICE(PatchMatchMisuseTest);

TEST_P(PatchMatchMisuseTest, wrong_problems) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    PatchMatch problem = small_match();
    change(problem);
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(problem, device())); }), parts);
  };
  using Problem = PatchMatch;
  refused([](Problem& p) { p.size.x = 0; }, {"size.x of patch_match is 0", "at least 1"});
  refused([](Problem& p) { p.patch.y = -2; }, {"patch.y of patch_match is -2", "at least 1"});
  refused([](Problem& p) { p.window.z = 0; }, {"window.z of patch_match is 0", "at least 1"});
  refused([](Problem& p) { p.step.x = 0; }, {"step.x of patch_match is 0", "at least 1"});
  refused([](Problem& p) { p.patch.z = 3; }, {"patch.z of patch_match is 3", "2 voxels along z"});
  refused(
      [](Problem& p) {
        p.size = {2000, 1000, 1}, p.patch = {1999, 1000, 1};
      },
      {"1999 x 1000 x 1 = 1999000 voxels", "1048576 at most"});
  refused([](Problem& p) { p.max_patches = 0; }, {"max_patches of patch_match is 0", "from 1 to 64"});
  refused([](Problem& p) { p.max_patches = 65; }, {"max_patches of patch_match is 65", "from 1 to 64"});
  refused([](Problem& p) { p.threshold = std::numeric_limits<double>::quiet_NaN(); },
          {"threshold of patch_match is nan", "a number or an infinity"});
  refused([](Problem& p) { p.type = DataType::int16; }, {"int16", "uint8, uint16 or float32"});
  refused([](Problem& p) { p.size.x = kLargestNumber; }, {"operand volume of patch_match", kLargestBytes});
  refused(
      [](Problem& p) {
        p.size = {std::int64_t{1} << 22, std::int64_t{1} << 22, 4};
      },
      {"operand volume of patch_match", "int64", kLargestBytes});
  refused(
      [](Problem& p) {
        p.size = {std::int64_t{1} << 43, 2, 2}, p.max_patches = 64;
      },
      {"operand distances of patch_match", kLargestBytes});
}

TEST_P(PatchMatchMisuseTest, wrong_operands) {
  const auto bytes = device().allocate<std::uint8_t>(24);
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    PatchMatch::Operands wrong = operands();
    change(wrong);
    expect_run_refused(wrong, parts);
  };
  using Operands = PatchMatch::Operands;
  refused([&](Operands& o) { o.volume = volume_.view(0, 23); }, {"operand volume", "23 elements", "at least 24"});
  refused([&](Operands& o) { o.volume = bytes; }, {"operand volume", "uint8", "float32"});
  refused([](Operands& o) { o.counts = {}; }, {"operand counts", "nothing"});
  refused([&](Operands& o) { o.counts = counts_.view(0, 5); }, {"operand counts", "5 elements", "at least 6"});
  refused([&](Operands& o) { o.distances = indices_; }, {"operand distances", "int64", "float32"});
  refused([&](Operands& o) { o.indices = indices_.view(1, 11); }, {"operand indices", "11 elements", "at least 12"});
  refused([&](Operands& o) { o.distances = volume_; }, {"operand distances", "volume", "overlap"});
  refused([&](Operands& o) { o.distances = distances_.untyped().as_const(); }, {"operand distances", "read-only"});
}

/// Each number along each axis, and each pair of them, at what no memory holds: explain() answers or refuses.
TEST_P(PatchMatchMisuseTest, extreme_sizes) {
  constexpr std::int64_t kFarNumbers[] = {1, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 40, kLargestNumber};
  using Numbers = PerAxis PatchMatch::*;
  using Axis = std::int64_t PerAxis::*;
  std::vector<std::pair<Numbers, Axis>> fields;
  for (const Numbers numbers : {&PatchMatch::size, &PatchMatch::patch, &PatchMatch::window, &PatchMatch::step}) {
    for (const Axis axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) fields.emplace_back(numbers, axis);
  }
  const auto ask = [&](const PatchMatch& problem) {
    try {
      static_cast<void>(explain(problem, device()));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::int64_t first : kFarNumbers) {
      PatchMatch problem = small_match();
      (problem.*fields[i].first).*fields[i].second = first;
      ask(problem);
      for (std::size_t j = i + 1; j < fields.size(); ++j) {
        for (const std::int64_t second : kFarNumbers) {
          PatchMatch pair = problem;
          (pair.*fields[j].first).*fields[j].second = second;
          ask(pair);
        }
      }
    }
  }
}

/// A constant volume: every candidate of the window is at distance 0, and the lowest indices win.
TEST_P(PatchMatchMisuseTest, right_operands_are_taken) {
  Queue queue(device());
  queue.run(device().kernel(small_match()), operands());
  EXPECT_EQ(queue.download(counts_).get(), std::vector<std::int32_t>(6, 2));
  EXPECT_EQ(queue.download(distances_).get(), std::vector<float>(12, 0.0F));
  EXPECT_EQ(queue.download(indices_).get(), (std::vector<std::int64_t>{0, 1, 0, 1, 1, 2, 0, 1, 0, 1, 1, 2}));
}

TEST_P(PatchMatchMisuseTest, wrong_options) {
  expect_wrong_options_refused(small_match(), device(), GetParam());
}

}  // namespace
}  // namespace tessera::testing_support
