// What earlier work left in scratch memory must not slow down later work: denormal numbers take a processor many
// times as long as others, and leftovers of integers look like them. Here each kernel first computes with denormal
// operands, and then with ordinary ones, of which no denormal number arises: the processor's own flag tells whether
// one was met all the same.
#include <gtest/gtest.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/tessera.h>

#if defined(__x86_64__)

namespace tessera::fault {
namespace {

constexpr float kDenormal = 1e-40F;
/// Not a power of two, so that no rounding error of products and sums is 0 or tiny.
constexpr float kOrdinary = 1.3F;
constexpr unsigned kMetDenormal = 0x2;  // of MXCSR

/// A device of one thread, and kernels on it that clear and read that thread's flags.
class LeftoversTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      device_ = std::make_unique<Device>(open(std::string(GetParam()) + "?threads=1"));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    queue_ = std::make_unique<Queue>(*device_);
  }
  /// Did work() make the device's thread meet a denormal number?
  template <class Work>
  bool meets_denormals(const Work& work) {
    auto flags = device_->allocate<std::uint32_t>(1);
    const KernelSource source{.name = "flags",
                              .parameters = {output<std::uint32_t>("flags")},
                              .cpu = [](const WorkGroup&, std::span<std::uint32_t> met) {
                                met[0] = _mm_getcsr() & kMetDenormal;
                                _mm_setcsr(_mm_getcsr() & ~kMetDenormal);
                              }};
    const OwnKernel kernel = device_->compile(source);
    queue_->launch(kernel, {.groups = {1}, .group_size = {1}}, flags);
    work();
    queue_->launch(kernel, {.groups = {1}, .group_size = {1}}, flags);
    return queue_->download(flags).get()[0] != 0;
  }
  [[nodiscard]] Buffer<float> filled(std::int64_t count, float value) {
    return device_->upload<float>(std::vector<float>(static_cast<std::size_t>(count), value));
  }
  bool meets_denormals(const CnnLayer& problem, const char* variant, float pixel) {
    auto layer = device_->kernel(problem, KernelOptions{.variant = variant});
    const auto input = filled(problem.batch * problem.input_channels * problem.height * problem.width, pixel);
    const auto weights = filled(
        problem.output_channels * problem.input_channels * problem.filter_height * problem.filter_width, kOrdinary);
    const auto prepared = queue_->prepare_weights(layer, weights);
    const auto output =
        filled(problem.batch * problem.output_channels * problem.output_height() * problem.output_width(), 0);
    return meets_denormals(
        [&] { queue_->run(layer, {.input = input, .weights = prepared, .bias = {}, .output = output}); });
  }
  bool meets_denormals(const Gemm& problem, const char* variant, float element) {
    auto gemm = device_->kernel(problem, KernelOptions{.variant = variant});
    const auto a = filled(problem.m * problem.k, element);
    const auto b = filled(problem.k * problem.n, element);
    const auto c = filled(problem.m * problem.n, 0);
    return meets_denormals([&] { queue_->run(gemm, {.a = a, .b = b, .c = c}); });
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
};

TEST_P(LeftoversTest, slow_down_no_layer) {
  // 64 tiles of 4 x 4 sums fill whole vectors, and 49 in the same memory do not.
  const CnnLayer whole{.input_channels = 33,
                       .output_channels = 37,
                       .height = 32,
                       .width = 32,
                       .filter_height = 3,
                       .filter_width = 3,
                       .padding = 1,
                       .bias = false};
  CnnLayer part = whole;
  part.height = part.width = 28;
  for (const char* variant : {"winograd", "implicit_gemm"}) {
    EXPECT_TRUE(meets_denormals(whole, variant, kDenormal)) << "the flag does not tell";
    EXPECT_FALSE(meets_denormals(part, variant, kOrdinary)) << variant;
  }
}

TEST_P(LeftoversTest, slow_down_no_product) {
  const Gemm whole{.m = 140, .n = 96, .k = 301};
  const Gemm part{.m = 131, .n = 77, .k = 301};
  for (const char* variant : {"register", "tiled"}) {
    EXPECT_TRUE(meets_denormals(whole, variant, kDenormal)) << "the flag does not tell";
    EXPECT_FALSE(meets_denormals(part, variant, kOrdinary)) << variant;
  }
}

INSTANTIATE_TEST_SUITE_P(cpu, LeftoversTest, testing::Values("cpu:0", "cpu:1"),
                         [](const auto& device) { return std::string(device.param) == "cpu:0" ? "cpu_0" : "cpu_1"; });

}  // namespace
}  // namespace tessera::fault

#endif  // __x86_64__
