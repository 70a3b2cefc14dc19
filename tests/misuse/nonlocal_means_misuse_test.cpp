// Wrong problems and operands of nonlocal_means on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

NonlocalMeans small_means() {
  return {.size = {12, 9, 1}, .sigma = 0.1};
}

class NonlocalMeansMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(small_means(), device()).empty()) GTEST_SKIP() << GetParam() << " offers no variant of nonlocal_means";
    volume_ = device().upload<float>(std::vector<float>(108, 1.0F));
    result_ = device().upload<float>(std::vector<float>(108, -3.0F));
  }
  void expect_refused(const Refusal& refusal, const std::vector<std::string>& parts) {
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.sentence, part));
  }

  Buffer<float> volume_;
  Buffer<float> result_;
};
TESSERA_ON_EACH_DEVICE(NonlocalMeansMisuseTest);

TEST_P(NonlocalMeansMisuseTest, wrong_problems) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    NonlocalMeans problem = small_means();
    change(problem);
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(problem)); }), parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(problem, device())); }), parts);
  };
  using Problem = NonlocalMeans;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  refused([](Problem& p) { p.size.y = 0; }, {"size.y of nonlocal_means is 0", "at least 1"});
  refused([](Problem& p) { p.channels = 2; }, {"channels of nonlocal_means is 2", "1 or 3"});
  refused([](Problem& p) { p.sigma = -1; }, {"sigma of nonlocal_means is -1", "at least 0"});
  refused([](Problem& p) { p.sigma = kNaN; }, {"sigma of nonlocal_means is nan", "finite"});
  refused([](Problem& p) { p.sigma = kInfinite; }, {"sigma of nonlocal_means is inf", "finite"});
  refused([](Problem& p) { p.strength = -2; }, {"strength of nonlocal_means is -2", "at least 0"});
  refused([](Problem& p) { p.strength = kInfinite; }, {"strength of nonlocal_means is inf", "finite"});
  refused([](Problem& p) { p.type = DataType::int16; }, {"int16", "uint8, uint16 or float32"});
  refused([](Problem& p) { p.patch.y = -1; }, {"patch.y of nonlocal_means is -1", "at least 1"});
  refused(
      [](Problem& p) {
        p.patch = {16, 33, 1};
      },
      {"the patch of nonlocal_means has 16 x 33 x 1 voxels", "512 at most"});
  refused([](Problem& p) { p.window.x = -5; }, {"window.x of nonlocal_means is -5", "at least 1"});
  refused(
      [](Problem& p) {
        p.size = {5000, 5000, 1}, p.window = {2049, 2048, 1};
      },
      {"the window of nonlocal_means, 2049 x 2048 x 1", "more than 4194304 candidates"});
  refused([](Problem& p) { p.size.x = std::numeric_limits<std::int64_t>::max(); },
          {"operand volume of nonlocal_means", std::to_string(std::int64_t{1} << 48) + " bytes"});
}

TEST_P(NonlocalMeansMisuseTest, wrong_operands) {
  const auto refused = [&](auto change, const std::vector<std::string>& parts) {
    SCOPED_TRACE(parts.front());
    NonlocalMeans::Operands operands{.volume = volume_, .result = result_};
    change(operands);
    Queue queue(device());
    const auto kernel = device().kernel(small_means());
    expect_refused(refusal_of([&] { queue.run(kernel, operands); }), parts);
    EXPECT_EQ(queue.download(result_).get(), std::vector<float>(108, -3.0F)) << "a refused run wrote";
    queue.finish();
  };
  const auto bytes = device().allocate<std::uint8_t>(108);
  const auto few = device().allocate<float>(107);
  refused([](auto& o) { o.volume = {}; }, {"operand volume of nonlocal_means holds nothing"});
  refused([](auto& o) { o.result = {}; }, {"operand result of nonlocal_means holds nothing"});
  refused([&](auto& o) { o.volume = bytes; }, {"operand volume of nonlocal_means holds uint8", "float32"});
  refused([&](auto& o) { o.result = few; }, {"operand result of nonlocal_means has 107 elements", "at least 108"});
  refused([&](auto& o) { o.volume = result_; }, {"operand result of nonlocal_means", "overlaps operand volume"});
}

/// Numbers along each axis that no memory holds: explain() answers or refuses.
TEST_P(NonlocalMeansMisuseTest, extreme_sizes) {
  for (const auto axis : {&PerAxis::x, &PerAxis::y, &PerAxis::z}) {
    for (const std::int64_t far :
         {(std::int64_t{1} << 31) - 1, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
      for (const auto numbers : {&NonlocalMeans::size, &NonlocalMeans::patch, &NonlocalMeans::window}) {
        for (const bool is_large : {false, true}) {
          NonlocalMeans problem = small_means();
          problem.*numbers.*axis = far;
          if (is_large) problem.size.*axis = far;
          try {
            static_cast<void>(explain(problem, device()));
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
          }
        }
      }
    }
  }
}

/// A constant volume stays so.
TEST_P(NonlocalMeansMisuseTest, right_operands_are_taken) {
  Queue queue(device());
  queue.run(device().kernel(small_means()), {.volume = volume_, .result = result_});
  EXPECT_EQ(queue.download(result_).get(), std::vector<float>(108, 1.0F));
}

TEST_P(NonlocalMeansMisuseTest, wrong_options) {
  expect_wrong_options_refused(small_means(), device(), GetParam());
}

}  // namespace
}  // namespace tessera::testing_support
