// What every error on every device tells: the code, the device, and what was being done. A refusal changes nothing.
#include <gtest/gtest.h>

#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class ErrorTest : public EachDevice {};
TESSERA_ON_EACH_DEVICE(ErrorTest);

TEST_P(ErrorTest, a_refused_problem_says_what_was_being_done) {
  const Refusal refusal = refusal_of(
      [&] { static_cast<void>(device().kernel(Gemm{.m = -1, .n = 2, .k = 2}, {.label = "the first layer"})); });
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(contains(refusal.sentence, "-1"));
  EXPECT_TRUE(contains(refusal.what, "invalid_argument"));
  EXPECT_TRUE(contains(refusal.what, "gemm"));
  EXPECT_TRUE(contains(refusal.what, GetParam()));
  EXPECT_TRUE(contains(refusal.what, "the first layer"));
}

TEST_P(ErrorTest, a_refused_run_leaves_queue_and_output_as_they_were) {
  const auto gemm = device().kernel(Gemm{.m = 2, .n = 2, .k = 2}, {.label = "the product"});
  const auto a = device().upload<float>(std::vector<float>{1, 2, 3, 4});
  const auto c = device().upload<float>(std::vector<float>{9, 9, 9, 9});
  Queue queue(device());
  const Refusal refusal = refusal_of([&] { queue.run(gemm, {.a = a, .b = a.view(0, 3), .c = c}); });
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(contains(refusal.sentence, "operand b of gemm has 3 elements, but must have at least 4"));
  EXPECT_TRUE(contains(refusal.what, "the product"));
  EXPECT_EQ(queue.download(c).get(), (std::vector<float>{9, 9, 9, 9}));
  queue.run(gemm, {.a = a, .b = a, .c = c});
  EXPECT_EQ(queue.download(c).get(), (std::vector<float>{7, 10, 15, 22}));
}

TEST_P(ErrorTest, copies_of_an_error_tell_the_same) {
  try {
    static_cast<void>(device().kernel(Gemm{.m = 1, .n = 1, .k = 1}, {.variant = "no_such_variant"}));
    FAIL() << "an unknown variant must be refused";
  } catch (const Error& error) {
    const Error copy = error;
    EXPECT_STREQ(copy.what(), error.what());
    const Error longer = copy.while_doing("testing");
    EXPECT_TRUE(contains(longer.what(), "testing"));
    EXPECT_FALSE(contains(error.what(), "testing"));
    EXPECT_EQ(longer.code(), error.code());
    EXPECT_EQ(longer.sentence(), error.sentence());
  }
}

}  // namespace
}  // namespace tessera::testing_support
