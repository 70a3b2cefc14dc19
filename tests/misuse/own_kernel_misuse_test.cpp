// Declarations of own kernels that make no sense, refused before any compiler sees them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "each_device.h"

namespace tessera::testing_support {
namespace {

class OwnKernelMisuseTest : public EachDevice {
 protected:
  void expect_refused(const KernelSource& source, const std::vector<std::string>& parts) {
    const Refusal refusal = refusal_of([&] { static_cast<void>(device().compile(source)); });
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    for (const std::string& part : parts) EXPECT_TRUE(contains(refusal.what, part));
  }
  /// Every language has a source, so that only the declaration is wrong.
  [[nodiscard]] static KernelSource source_of(std::string name, std::vector<Parameter> parameters) {
    return {.name = std::move(name),
            .parameters = std::move(parameters),
            .opencl = "__kernel void f(__global float* x) { x[0] = 1; }",
            .cuda = "extern \"C\" __global__ void f(float* x) { x[0] = 1; }",
            .cpu = [](const WorkGroup&, std::span<float> x) { x[0] = 1; }};
  }
};
TESSERA_ON_EACH_DEVICE(OwnKernelMisuseTest);

TEST_P(OwnKernelMisuseTest, names) {
  for (const std::string name : {"", "1f", "f g", "f;", "f\n", "f-g"}) {
    expect_refused(source_of(name, {output<float>("x")}), {"'" + name + "'", "identifier"});
  }
  expect_refused(source_of("f", {output<float>("")}), {"'f'", "identifier"});
  expect_refused(source_of("f", {output<float>("x y")}), {"'x y'", "identifier"});
  expect_refused(source_of("f", {output<float>("x"), output<float>("x")}), {"'x'", "twice"});
}

TEST_P(OwnKernelMisuseTest, no_source_at_all) {
  expect_refused({.name = "f", .parameters = {}}, {"'f'", "no source"});
}

TEST_P(OwnKernelMisuseTest, a_parameter_of_another_type_than_the_kernels) {
  try {
    const OwnKernel right = device().compile(source_of("f", {output<float>("x")}));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    GTEST_SKIP() << error.sentence();
  }
  if (device().info().backend == "cuda") GTEST_SKIP() << "CUDA's images do not keep the types of pointers";
  expect_refused(source_of("f", {output<double>("x")}), {"x", "float64"});
  expect_refused(source_of("f", {scalar<float>("x")}), {"x"});
  expect_refused(source_of("f", {local<float>("x")}), {"x"});
}

TEST_P(OwnKernelMisuseTest, a_kernel_of_another_opening) {
  const Device again = fresh_device();
  try {
    const OwnKernel kernel = again.compile(source_of("f", {output<float>("x")}));
    const auto x = device().upload<float>(std::vector<float>{5});
    Queue queue(device());
    const Refusal refusal = refusal_of([&] { queue.launch(kernel, {.groups = {1}, .group_size = {1}}, x); });
    EXPECT_EQ(refusal.code, ErrorCode::invalid_argument) << refusal.what;
    EXPECT_TRUE(contains(refusal.what, "'f'"));
    EXPECT_EQ(queue.download(x).get(), std::vector<float>{5});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    GTEST_SKIP() << error.sentence();
  }
}

}  // namespace
}  // namespace tessera::testing_support
