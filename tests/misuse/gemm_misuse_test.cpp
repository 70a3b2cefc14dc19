// Wrong problems, options and operands of gemm on every device.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "each_device.h"
#include "wrong_options.h"

namespace tessera::testing_support {
namespace {

class GemmMisuseTest : public EachDevice {
 protected:
  void SetUp() override {
    if (explain(Gemm{.m = 3, .n = 4, .k = 5}, device()).empty()) {
      GTEST_SKIP() << GetParam() << " offers no variant of gemm";
    }
  }
};
TESSERA_ON_EACH_DEVICE(GemmMisuseTest);

struct WrongProblem {
  Gemm problem;
  std::vector<std::string> parts;  // of the sentence: the value, the limit, the name
};

std::vector<WrongProblem> wrong_problems() {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const std::string largest = std::to_string(std::int64_t{1} << 48) + " bytes";
  return {
      {{.m = -1, .n = 2, .k = 2}, {"m of gemm is -1", "at least 0"}},
      {{.m = 2, .n = -7, .k = 2}, {"n of gemm is -7", "at least 0"}},
      {{.m = 2, .n = 2, .k = std::numeric_limits<std::int64_t>::min()}, {"k of gemm is -9223372036854775808"}},
      {{.m = 2, .n = 3, .k = 5, .lda = 4}, {"lda of gemm is 4", "k = 5"}},
      {{.m = 6, .n = 3, .k = 5, .transpose_a = true, .lda = 5}, {"lda of gemm is 5", "m = 6"}},
      {{.m = 2, .n = 3, .k = 5, .ldb = 2}, {"ldb of gemm is 2", "n = 3"}},
      {{.m = 2, .n = 3, .k = 5, .transpose_b = true, .ldb = 4}, {"ldb of gemm is 4", "k = 5"}},
      {{.m = 2, .n = 3, .k = 5, .ldc = 2}, {"ldc of gemm is 2", "n = 3"}},
      {{.m = 2, .n = 3, .k = 5, .ldc = -3}, {"ldc of gemm is -3"}},
      {{.m = 2, .n = 3, .k = 5, .type = DataType::int32}, {"int32", "float32 or float64"}},
      {{.m = 2, .n = 2, .k = 2, .accuracy = Accuracy{3}}, {"accuracy of gemm is the number 3", "strict"}},
      {{.m = kHuge, .n = kHuge, .k = 1}, {"operand c of gemm", std::to_string(kHuge), largest}},
      {{.m = 1, .n = 1, .k = kLast}, {"gemm", std::to_string(kLast), largest}},
      {{.m = 0, .n = kLast, .k = 1}, {"gemm", std::to_string(kLast), largest}},
      {{.m = 0, .n = 1, .k = kHuge, .batch = kHuge}, {"operand a of gemm", std::to_string(kHuge), largest}},
      {{.m = kHuge, .n = kHuge, .k = 1, .batch = 0}, {"operand c of gemm", std::to_string(kHuge), largest}},
      {{.m = 1, .n = 1, .k = 1, .lda = kLast}, {"operand a of gemm", std::to_string(kLast), largest}},
      {{.m = 1, .n = 1, .k = 1, .stride_b = kLast}, {"operand b of gemm", largest}},
      {{.m = kLast, .n = 1, .k = 1}, {"gemm", std::to_string(kLast)}},
      {{.m = 3, .n = 1, .k = 1, .ldc = kLast / 2}, {"operand c of gemm", std::to_string(kLast / 2)}},
      {{.m = 2, .n = 3, .k = 5, .batch = -1}, {"batch of gemm is -1", "at least 0"}},
      {{.m = 2, .n = 3, .k = 5, .batch = 2, .stride_a = -2}, {"stride_a of gemm is -2", "kPacked"}},
      {{.m = 2, .n = 3, .k = 5, .batch = 2, .stride_c = 0}, {"stride_c of gemm is 0", "overlap", "6"}},
      {{.m = 2, .n = 3, .k = 5, .batch = 2, .stride_c = 5}, {"stride_c of gemm is 5", "at least 6", "n = 3"}},
      {{.m = 2, .n = 3, .k = 5, .ldc = 8, .batch = 3, .stride_c = 3}, {"stride_c of gemm is 3", "ldc at least 9"}},
      {{.m = 1, .n = 1, .k = 1, .batch = kLast}, {"of gemm", std::to_string(kLast)}},
      {{.m = 2, .n = 2, .k = 2, .batch = 3, .stride_b = kLast}, {"operand b of gemm", "3 matrices", "stride"}},
  };
}

TEST_P(GemmMisuseTest, wrong_problems) {
  for (const WrongProblem& wrong : wrong_problems()) {
    SCOPED_TRACE(wrong.parts.front());
    expect_refused(refusal_of([&] { static_cast<void>(device().kernel(wrong.problem)); }), wrong.parts);
    expect_refused(refusal_of([&] { static_cast<void>(explain(wrong.problem, device())); }), wrong.parts);
  }
}

TEST_P(GemmMisuseTest, wrong_options) {
  expect_wrong_options_refused(Gemm{.m = 8, .n = 8, .k = 8}, device(), GetParam());
}

TEST_P(GemmMisuseTest, every_tuning_of_a_variant_without_tunables_is_unknown) {
  const Gemm problem{.m = 8, .n = 8, .k = 8};
  for (const VariantReport& report : explain(problem, device())) {
    if (!report.can_run || !report.tunables.empty()) continue;
    expect_refused(refusal_of([&] {
                     static_cast<void>(device().kernel(problem, {.variant = report.variant, .tuning = {{"tile", 8}}}));
                   }),
                   {"'tile'", report.variant});
  }
}

/// Operands of a 3 x 4 = (3 x 5)(5 x 4) product; tests replace one of them.
class OperandMisuseTest : public GemmMisuseTest {
 protected:
  void SetUp() override {
    GemmMisuseTest::SetUp();
    if (IsSkipped()) return;
    a_ = device().upload<float>(std::vector<float>(15, 1.0F));
    b_ = device().upload<float>(std::vector<float>(20, 2.0F));
    c_ = device().upload<float>(std::vector<float>(12, -3.0F));
  }
  [[nodiscard]] OperatorKernel<Gemm> gemm() const { return device().kernel(Gemm{.m = 3, .n = 4, .k = 5}); }

  /// The run is refused, nothing is written, and the queue goes on.
  void expect_run_refused(const Gemm::Operands& operands, const std::vector<std::string>& parts) {
    Queue queue(device());
    expect_refused(refusal_of([&] { queue.run(gemm(), operands); }), parts);
    EXPECT_EQ(queue.download(c_).get(), std::vector<float>(12, -3.0F)) << "a refused run wrote to C";
    EXPECT_EQ(queue.download(a_).get(), std::vector<float>(15, 1.0F));
    queue.finish();
  }

  Buffer<float> a_;
  Buffer<float> b_;
  Buffer<float> c_;
};
TESSERA_ON_EACH_DEVICE(OperandMisuseTest);

TEST_P(OperandMisuseTest, too_small) {
  expect_run_refused({.a = a_.view(0, 14), .b = b_, .c = c_}, {"operand a", "14 elements", "at least 15"});
  expect_run_refused({.a = a_, .b = b_.view(1, 19), .c = c_}, {"operand b", "19 elements", "at least 20"});
  expect_run_refused({.a = a_, .b = b_, .c = c_.view(0, 11)}, {"operand c", "11 elements", "at least 12"});
  expect_run_refused({.a = device().allocate<float>(0), .b = b_, .c = c_}, {"operand a", "0 elements", "15"});
}

TEST_P(OperandMisuseTest, nothing_in_it) {
  const Buffer<float> never;
  expect_run_refused({.a = never, .b = b_, .c = c_}, {"operand a", "nothing"});
  expect_run_refused({.a = a_, .b = b_, .c = {}}, {"operand c", "nothing"});
  auto reset = device().allocate<float>(20);
  reset.reset();
  expect_run_refused({.a = a_, .b = reset, .c = c_}, {"operand b", "nothing"});
  auto moved = device().allocate<float>(20);
  const auto taken = std::move(moved);
  expect_run_refused({.a = a_, .b = moved, .c = c_}, {"operand b", "moved from"});  // NOLINT(bugprone-use-after-move)
}

TEST_P(OperandMisuseTest, of_the_wrong_type) {
  const auto doubles = device().allocate<double>(20);
  const auto integers = device().allocate<std::int32_t>(20);
  expect_run_refused({.a = doubles, .b = b_, .c = c_}, {"operand a", "float64", "float32"});
  expect_run_refused({.a = a_, .b = integers, .c = c_}, {"operand b", "int32", "float32"});
}

TEST_P(OperandMisuseTest, read_only_output) {
  expect_run_refused({.a = a_, .b = b_, .c = c_.untyped().as_const()}, {"operand c", "read-only"});
}

TEST_P(OperandMisuseTest, overlapping_output) {
  const auto big = device().upload<float>(std::vector<float>(64, 1.0F));
  Queue queue(device());
  const auto refused = [&](const Gemm::Operands& operands, const std::vector<std::string>& parts) {
    expect_refused(refusal_of([&] { queue.run(gemm(), operands); }), parts);
    EXPECT_EQ(queue.download(big).get(), std::vector<float>(64, 1.0F));
  };
  refused({.a = big.view(0, 15), .b = b_, .c = big.view(14, 12)}, {"operand c", "operand a", "56", "overlap"});
  refused({.a = a_, .b = big.view(10, 20), .c = big.view(0, 12)}, {"operand c", "operand b", "40", "overlap"});
  refused({.a = a_, .b = big, .c = big}, {"operand c", "operand b", "overlap"});
  // Neighbours do not overlap, and inputs may.
  queue.run(gemm(), {.a = big.view(0, 15), .b = big.view(3, 20), .c = big.view(23, 12)});
  std::vector<float> expected(64, 1.0F);
  std::fill_n(expected.begin() + 23, 12, 5.0F);
  EXPECT_EQ(queue.download(big).get(), expected);
}

TEST_P(OperandMisuseTest, of_another_device) {
  const Device again = fresh_device();
  expect_run_refused({.a = a_, .b = again.allocate<float>(20), .c = c_}, {"operand b", GetParam(), "another time"});
  for (const std::string& id : device_ids()) {
    if (id == GetParam()) continue;
    const auto elsewhere = shared_device(id).allocate<float>(20);
    expect_run_refused({.a = elsewhere, .b = b_, .c = c_}, {"operand a", id, GetParam()});
  }
}

TEST_P(OperandMisuseTest, a_queue_of_another_device) {
  const Device again = fresh_device();
  Queue queue(again);
  expect_refused(refusal_of([&] { queue.run(gemm(), {.a = a_, .b = b_, .c = c_}); }), {GetParam(), "another time"});
}

}  // namespace
}  // namespace tessera::testing_support
