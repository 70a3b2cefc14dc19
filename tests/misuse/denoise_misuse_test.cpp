// Wrong problems and operands of denoise on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/ops/denoise_pieces.h>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

constexpr double kNoSigma = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndlessSigma = std::numeric_limits<double>::infinity();

Denoise small_denoise() {
  return {.size = {12, 9, 1}, .sigma = 0.1};
}

class DenoiseMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(small_denoise(), device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of denoise";
    volume_ = device().upload<float>(std::vector<float>(108, 1.0F));
    result_ = device().upload<float>(std::vector<float>(108, -3.0F));
  }
  void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
  }
  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const Denoise& problem, const Denoise::Operands& operands,
                          const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    Queue queue(device());
    const auto kernel = device().kernel(problem);
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(result_).get(), std::vector<float>(108, -3.0F)) << "a refused run wrote";
    queue.finish();
  }

  Buffer<float> volume_;
  Buffer<float> result_;
};
TESSERA_ON_EACH_DEVICE(DenoiseMisuseTest);

TEST_P(DenoiseMisuseTest, wrong_problems) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    Denoise problem = small_denoise();
    change(problem);
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(problem, device())); }), parts);
  };
  using Problem = Denoise;
  refused([](Problem& p) { p.size.y = 0; }, {"size.y of denoise is 0", "at least 1"});
  refused([](Problem& p) { p.size.y = 7; },
          {"hard.patch.y of denoise is 8", "the volume has 7 voxels along y", "0 places for a patch"});
  refused([](Problem& p) { p.size.z = 3; }, {"hard.patch.z of denoise is 4", "3 voxels along z"});
  refused([](Problem& p) { p.channels = 2; }, {"channels of denoise is 2", "1 or 3"});
  refused([](Problem& p) { p.sigma = -1; }, {"sigma of denoise is -1", "at least 0"});
  refused([](Problem& p) { p.sigma = kNoSigma; }, {"sigma of denoise is nan", "finite"});
  refused([](Problem& p) { p.sigma = kEndlessSigma; }, {"sigma of denoise is inf", "finite"});
  refused([](Problem& p) { p.range = -2; }, {"range of denoise is -2", "at least 0"});
  refused([](Problem& p) { p.shrinkage = kEndlessSigma; }, {"shrinkage of denoise is inf", "finite"});
  refused([](Problem& p) { p.type = DataType::int16; }, {"int16", "uint8, uint16 or float32"});
  refused([](Problem& p) { p.stage = DenoiseStage(7); }, {"stage of denoise is the number 7", "wiener"});
  refused([](Problem& p) { p.profile = DenoiseProfile(9); }, {"profile of denoise is the number 9", "normal"});
  refused([](Problem& p) { p.hard.transform = PatchTransform(4); }, {"hard.transform of denoise is the number 4"});
  refused([](Problem& p) { p.hard.patch = {3, 4, 1}; }, {"hard.patch.x of denoise is 3", "1, 2, 4, 8 or 16"});
  refused([](Problem& p) { p.size.x = 30, p.wiener.patch.x = 17; }, {"wiener.patch.x of denoise is 17", "16 at most"});
  refused(
      [](Problem& p) {
        p.size = {16, 16, 16}, p.hard.patch = {16, 8, 8};
      },
      {"hard of denoise has 16 x 8 x 8 = 1024 voxels", "512 at most"});
  refused([](Problem& p) { p.wiener.patch.y = -1; }, {"wiener.patch.y of denoise is -1", "at least 1"});
  refused([](Problem& p) { p.wiener.window.x = -5; }, {"wiener.window.x of denoise is -5", "at least 1"});
  refused([](Problem& p) { p.hard.step.y = -3; }, {"hard.step.y of denoise is -3", "at least 1"});
  refused([](Problem& p) { p.hard.max_patches = 65; }, {"hard.max_patches of denoise is 65", "from 1 to 64"});
  refused([](Problem& p) { p.wiener.threshold = -0.5; }, {"wiener.threshold of denoise is -0.5", "at least 0"});
  refused([](Problem& p) { p.hard.threshold = kNoSigma; }, {"hard.threshold of denoise is nan", "at least 0"});
  refused([](Problem& p) { p.hard.kaiser = 17; }, {"hard.kaiser of denoise is 17", "from 0 to 16"});
  refused(
      [](Problem& p) {
        p.size = {500, 500, 500}, p.hard.window = {99, 99, 99}, p.hard.step = {1, 1, 1};
      },
      {"window 99 x 99 x 99 and step 1 x 1 x 1 of hard", "1048576 are the most"});
  refused([](Problem& p) { p.size.x = std::numeric_limits<std::int64_t>::max(); },
          {"operand volume of denoise", std::to_string(std::int64_t{1} << 48) + " bytes"});
}

TEST_P(DenoiseMisuseTest, wrong_operands) {
  const Denoise::Operands right{.volume = volume_, .basic = {}, .result = result_};
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    Denoise::Operands operands = right;
    change(operands);
    expect_run_refused(small_denoise(), operands, parts);
  };
  const auto bytes = device().allocate<std::uint8_t>(108);
  const auto few = device().allocate<float>(107);
  refused([](auto& o) { o.volume = {}; }, {"operand volume of denoise holds nothing"});
  refused([](auto& o) { o.result = {}; }, {"operand result of denoise holds nothing"});
  refused([&](auto& o) { o.volume = bytes; }, {"operand volume of denoise holds uint8", "float32"});
  refused([&](auto& o) { o.volume = few; }, {"operand volume of denoise has 107 elements", "at least 108"});
  refused([&](auto& o) { o.basic = volume_; }, {"operand basic of denoise has 108 elements", "has no basic"});
  refused([&](auto& o) { o.volume = result_; }, {"operand result of denoise", "overlaps operand volume"});
  Denoise wiener = small_denoise();
  wiener.stage = DenoiseStage::wiener;
  expect_run_refused(wiener, right, {"operand basic of denoise holds nothing"});
}

/// Operands in the host's memory: the stream is refused, and nothing is written.
TEST_P(DenoiseMisuseTest, wrong_streams) {
  const std::vector<float> volume(108, 1.0F);
  std::vector<float> result(108, -3.0F);
  const std::vector<std::uint8_t> bytes(108);
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    Denoise problem = small_denoise();
    Denoise::HostOperands operands{.volume = volume, .basic = {}, .result = result};
    StreamOptions options;
    change(problem, operands, options);
    expect_refused(refusal_of([&] { static_cast<void>(stream(device(), problem, operands, options)); }), parts);
    EXPECT_EQ(result, std::vector<float>(108, -3.0F)) << "a refused stream wrote";
  };
  refused([](auto&, auto& o, auto&) { o.volume = {}; }, {"operand volume of denoise is missing"});
  refused([](auto&, auto& o, auto&) { o.result = {}; }, {"operand result of denoise is missing"});
  refused([&](auto&, auto& o, auto&) { o.volume = bytes; }, {"operand volume of denoise holds uint8", "float32"});
  refused([&](auto&, auto& o, auto&) { o.volume = std::span(volume).first(107); }, {"107 elements", "at least 108"});
  refused([&](auto&, auto& o, auto&) { o.basic = volume; }, {"operand basic of denoise has 108 elements", "no basic"});
  refused([&](auto&, auto& o, auto&) { o.volume = result; }, {"operand result of denoise overlaps operand volume"});
  refused([](auto& p, auto&, auto&) { p.stage = DenoiseStage::wiener; }, {"operand basic of denoise is missing"});
  refused([](auto& p, auto&, auto&) { p.channels = 3; }, {"operand volume of denoise has 108", "at least 324"});
  refused([](auto& p, auto&, auto&) { p.sigma = -1; }, {"sigma of denoise is -1"});
  refused([](auto&, auto&, auto& s) { s.kernel.variant = "fastest"; }, {"fastest"});
  refused([](auto&, auto&, auto& s) { s.memory_bytes = 1000; },
          {"denoise with all of the volume, 12 x 9 x 1 voxels, at a time needs ", "volume 512", "result 512",
           "but memory_bytes is 1000"});
  Device gone = fresh_device();
  const Device taken = std::move(gone);
  expect_refused(refusal_of([&] { static_cast<void>(plan_stream(gone, small_denoise())); }), {"moved from"});
  expect_refused(refusal_of([&] {
                   static_cast<void>(plan_stream(device(), {.size = {12, 0, 1}}));
                 }),
                 {"size.y of denoise is 0"});
}

/// Numbers along each axis that no memory holds: explain() answers or refuses.
TEST_P(DenoiseMisuseTest, extreme_sizes) {
  constexpr std::int64_t kFarNumbers[] = {(std::int64_t{1} << 31) - 1, std::int64_t{1} << 40,
                                          std::numeric_limits<std::int64_t>::max()};
  const auto ask = [&](const Denoise& problem) {
    try {
      static_cast<void>(explain(problem, device()));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  };
  for (const auto axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) {
    for (const std::int64_t far : kFarNumbers) {
      for (const auto numbers : {&DenoiseStep::patch, &DenoiseStep::window, &DenoiseStep::step}) {
        Denoise problem = small_denoise();
        problem.wiener.*numbers.*axis = far;
        ask(problem);
        problem.size.*axis = far;
        ask(problem);
        problem.hard.*numbers.*axis = far;
        ask(problem);
      }
    }
  }
}

/// A constant volume stays so. The Wiener filter takes a little of the mean: sigma^2 / (64 * 16) of it, as a stack has
/// 16 patches of 64 voxels.
TEST_P(DenoiseMisuseTest, right_operands_are_taken) {
  Queue queue(device());
  queue.run(device().kernel(small_denoise()), {.volume = volume_, .basic = {}, .result = result_});
  for (const float voxel : queue.download(result_).get()) EXPECT_NEAR(voxel, 1.0F - 0.01F / 1024, 2e-5F);
}

TEST_P(DenoiseMisuseTest, wrong_options) {
  expect_wrong_options_refused(small_denoise(), device(), GetParam());
}

}  // namespace
}  // namespace tessera::testing_support
