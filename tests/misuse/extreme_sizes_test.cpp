// Problems with extreme sizes on every device: each field, and each pair of fields, at 0 and at what no memory holds.
// Every call must return or throw Error soon, whatever it says of the problem; and what has nothing to compute is run.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "each_device.h"
#include "support/time_limit.h"

namespace tessera::testing_support {
namespace {

constexpr std::int64_t kExtremes[] = {
    0, 1, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31, std::int64_t{1} << 40, INT64_MAX};
/// explain() does arithmetic on a handful of sizes, which takes microseconds; making a kernel compiles it. Both limits
/// are generous, because a machine that runs tests is busy.
constexpr double kSecondsToAsk = 1;
constexpr double kSecondsToMake = 60;

template <class Problem>
using Fields = std::vector<std::pair<const char*, std::int64_t Problem::*>>;

/// `base` with each field, and each pair of fields, at each of the extremes: calls `visit(problem, description)`.
template <class Problem, class Visit>
void for_each_extreme(const Problem& base, const Fields<Problem>& fields, Visit&& visit) {
  const auto text = [](const char* name, std::int64_t value) {
    return std::string(name) + "=" + std::to_string(value);
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::int64_t first : kExtremes) {
      Problem problem = base;
      problem.*fields[i].second = first;
      const std::string one = text(fields[i].first, first);
      visit(problem, one);
      for (std::size_t j = i + 1; j < fields.size(); ++j) {
        for (const std::int64_t second : kExtremes) {
          Problem pair = problem;
          pair.*fields[j].second = second;
          visit(pair, one + " " + text(fields[j].first, second));
        }
      }
    }
  }
}

class ExtremeSizesTest : public EachDevice {
 protected:
  /// The first question about an operator opens libraries and compiles what it asks the driver about.
  template <class Problem>
  void ask_once(const Problem& problem) {
    static_cast<void>(explain(problem, device()));
  }

  /// What explain() says within its time; nothing if it refuses the problem.
  template <class Problem>
  [[nodiscard]] std::vector<VariantReport> asked(const Problem& problem, const std::string& description) {
    const TimeLimit limit("explain() on " + GetParam() + " of " + description, kSecondsToMake);
    const auto start = std::chrono::steady_clock::now();
    std::vector<VariantReport> reports;
    try {
      reports = explain(problem, device());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << description << ": " << error.what();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), kSecondsToAsk) << description;
    return reports;
  }

  /// Makes the kernel of every variant that can, and runs it if there are operands.
  template <class Problem>
  void make_each(const Problem& problem, const std::string& description, const std::vector<VariantReport>& reports,
                 const typename Problem::Operands* operands) {
    for (const VariantReport& report : reports) {
      if (!report.can_run) continue;
      const TimeLimit limit(report.variant + " on " + GetParam() + " of " + description, kSecondsToMake);
      try {
        const auto kernel = device().kernel(problem, {.variant = report.variant});
        if (operands == nullptr) continue;
        Queue queue(device());
        queue.run(kernel, *operands);
        queue.finish();
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal) << report.variant << ", " << description << ": " << error.what();
      }
    }
  }
};
TESSERA_ON_EACH_DEVICE(ExtremeSizesTest);

TEST_P(ExtremeSizesTest, gemm) {
  const Fields<Gemm> fields{{"m", &Gemm::m},
                            {"n", &Gemm::n},
                            {"k", &Gemm::k},
                            {"lda", &Gemm::lda},
                            {"ldb", &Gemm::ldb},
                            {"ldc", &Gemm::ldc},
                            {"batch", &Gemm::batch},
                            {"stride_a", &Gemm::stride_a},
                            {"stride_b", &Gemm::stride_b},
                            {"stride_c", &Gemm::stride_c}};
  const UntypedView none = device().allocate_untyped(DataType::float32, 0);
  const UntypedView other = device().allocate_untyped(DataType::float32, 0);
  const Gemm::Operands operands{.a = none, .b = none, .c = other};
  for (const bool transposed : {false, true}) {
    const Gemm base{.m = 3, .n = 5, .k = 7, .transpose_a = transposed, .transpose_b = transposed};
    ask_once(base);
    for_each_extreme(base, fields, [&](const Gemm& p, const std::string& description) {
      const auto reports = asked(p, "gemm " + description);
      const bool is_empty = p.batch == 0 || p.m == 0 || p.n == 0;
      const bool reads_nothing = p.batch == 0 || p.k == 0 || (p.m == 0 && p.n == 0);
      if (is_empty) make_each(p, "gemm " + description, reports, reads_nothing ? &operands : nullptr);
    });
  }
}

TEST_P(ExtremeSizesTest, conv2d) {
  const Fields<Conv2d> fields{{"height", &Conv2d::height}, {"width", &Conv2d::width}, {"batch", &Conv2d::batch}};
  for (const DataType type : {DataType::uint8, DataType::int16, DataType::int32, DataType::float32}) {
    for (const Border border : {Border::same, Border::valid}) {
      const Conv2d base{.height = 6,
                        .width = 5,
                        .filter_height = 3,
                        .filter_width = 3,
                        .filter = {1, 2, 1, 2, 4, 2, 1, 2, 1},
                        .border = border,
                        .type = type};
      const UntypedView image = device().allocate_untyped(type, 0);
      const UntypedView output = device().allocate_untyped(base.output_type(), 0);
      const Conv2d::Operands operands{.image = image, .output = output};
      ask_once(base);
      for_each_extreme(base, fields, [&](const Conv2d& p, const std::string& text) {
        const std::string description = "conv2d of " + std::string(to_string(type)) + " " + text;
        const auto reports = asked(p, description);
        if (p.batch == 0 || p.height == 0 || p.width == 0) make_each(p, description, reports, &operands);
      });
    }
  }
}

TEST_P(ExtremeSizesTest, cnn_layer) {
  const Fields<CnnLayer> fields{{"batch", &CnnLayer::batch},
                                {"input_channels", &CnnLayer::input_channels},
                                {"output_channels", &CnnLayer::output_channels},
                                {"height", &CnnLayer::height},
                                {"width", &CnnLayer::width},
                                {"filter_height", &CnnLayer::filter_height},
                                {"filter_width", &CnnLayer::filter_width},
                                {"stride", &CnnLayer::stride},
                                {"padding", &CnnLayer::padding},
                                {"pool_stride", &CnnLayer::pool_stride}};
  const auto input = device().allocate<float>(0);
  const auto weights = device().upload<float>(std::vector<float>(54, 1.0F));
  const auto bias = device().upload<float>(std::vector<float>(2, 1.0F));
  const auto output = device().allocate<float>(0);
  const CnnLayer::Operands operands{.input = input, .weights = weights, .bias = bias, .output = output};
  for (const std::int64_t pool : {1, 2}) {
    // Without images there is nothing to compute, whatever the images' size.
    for (const std::int64_t batch : {0, 1}) {
      const CnnLayer base{.batch = batch,
                          .input_channels = 3,
                          .output_channels = 2,
                          .height = 12,
                          .width = 9,
                          .filter_height = 3,
                          .filter_width = 3,
                          .pool_size = pool};
      ask_once(base);
      for_each_extreme(base, fields, [&](const CnnLayer& p, const std::string& text) {
        const std::string description =
            "cnn_layer with batch " + std::to_string(batch) + ", pool " + std::to_string(pool) + ", " + text;
        const auto reports = asked(p, description);
        const bool has_these_weights =
            p.input_channels == 3 && p.output_channels == 2 && p.filter_height == 3 && p.filter_width == 3;
        if (p.batch == 0) make_each(p, description, reports, has_these_weights ? &operands : nullptr);
      });
    }
  }
}

}  // namespace
}  // namespace tessera::testing_support
