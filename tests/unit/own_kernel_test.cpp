// Own kernels: what a declaration and a launch are refused for, and by which name.
#include <tessera/tessera.h>

#include <gtest/gtest.h>

#include <numeric>

#include "expect_error.h"

namespace tessera {
namespace {

KernelSource saxpy() {
  return {.name = "saxpy",
          .parameters = {input<float>("x"), output<float>("y"), scalar<float>("a")},
          .cpu = [](const WorkGroup& group, std::span<const float> x, std::span<float> y, float a) {
            group.for_each_item([&](const WorkItem& item) {
              if (item.global.x < y.size()) y[item.global.x] += a * x[item.global.x];
            });
          }};
}

TEST(OwnKernelTest, runs_once_per_work_group) {
  const Device device = open("minimal:0");
  std::vector<float> host(1000);
  std::iota(host.begin(), host.end(), 0.0F);
  const auto x = device.upload<float>(host);
  const auto y = device.upload<float>(host);
  Queue queue(device);
  queue.launch(device.compile(saxpy()), {.groups = {16}, .group_size = {64}}, x, y, 2.0F);
  const auto result = queue.download(y).get();
  for (std::size_t i = 0; i < host.size(); ++i) ASSERT_EQ(result[i], 3.0F * host[i]);
}

TEST(OwnKernelTest, local_memory_is_one_groups_own) {
  const Device device = open("minimal:0");
  const auto sums = device.allocate<int>(4);
  const auto kernel = device.compile(
      {.name = "sums",
       .parameters = {output<int>("sums"), local<int>("partial")},
       .cpu = [](const WorkGroup& group, std::span<int> out, LocalMemory<int> partial) {
         group.for_each_item([&](const WorkItem& item) { partial[item.local.x] = static_cast<int>(item.global.x); });
         out[group.id.x] = std::accumulate(partial.span.begin(), partial.span.end(), 0);
       }});
  Queue queue(device);
  queue.launch(kernel, {.groups = {4}, .group_size = {8}}, sums, local_memory<int>(8));
  EXPECT_EQ(queue.download(sums).get(), (std::vector{28, 92, 156, 220}));
}

TEST(OwnKernelTest, declarations_are_checked) {
  const Device device = open("minimal:0");
  KernelSource source = saxpy();
  source.name = "not a name";
  EXPECT_ERROR((void)device.compile(source), ErrorCode::invalid_argument, "'not a name'");
  source = saxpy();
  source.parameters[1].name = "x";
  EXPECT_ERROR((void)device.compile(source), ErrorCode::invalid_argument, "'x'", "twice");
  source = saxpy();
  source.cpu = {};
  EXPECT_ERROR((void)device.compile(source), ErrorCode::invalid_argument, "'saxpy'", "no source");
  source.cuda = "int";
  EXPECT_ERROR((void)device.compile(source), ErrorCode::unsupported, "'saxpy'");
}

TEST(OwnKernelTest, arguments_are_refused_by_name) {
  const Device device = open("minimal:0");
  const auto kernel = device.compile(saxpy());
  const auto x = device.allocate<float>(4);
  const auto y = device.allocate<float>(4);
  const auto wrong = device.allocate<double>(4);
  Queue queue(device);
  const LaunchShape shape{{1}, {4}};
  EXPECT_ERROR(queue.launch(kernel, shape, x, y), ErrorCode::invalid_argument, "2 arguments", "takes 3", "x, y and a");
  EXPECT_ERROR(queue.launch(kernel, shape, x, y, 2.0), ErrorCode::invalid_argument, "'a'", "float64", "float32");
  EXPECT_ERROR(queue.launch(kernel, shape, wrong, y, 2.0F), ErrorCode::invalid_argument, "'x'", "float64", "float32");
  EXPECT_ERROR(queue.launch(kernel, shape, x, BufferView<const float>(y), 2.0F), ErrorCode::invalid_argument, "'y'",
               "read-only");
  EXPECT_ERROR(queue.launch(kernel, shape, x, 1.0F, 2.0F), ErrorCode::invalid_argument, "'y'", "number", "buffer");
  EXPECT_ERROR(queue.launch(kernel, shape, x, Buffer<float>(), 2.0F), ErrorCode::invalid_argument, "'y'",
               "holds nothing");
  queue.finish();  // nothing of this reached the device
}

TEST(OwnKernelTest, a_moved_from_kernel_says_so) {
  const Device device = open("minimal:0");
  OwnKernel kernel = device.compile(saxpy());
  const OwnKernel taken = std::move(kernel);
  EXPECT_EQ(taken.info().operator_name, "saxpy");
  EXPECT_ERROR((void)kernel.info(), ErrorCode::invalid_argument, "moved from");  // NOLINT(bugprone-use-after-move)
  EXPECT_ERROR((void)kernel.limits(), ErrorCode::invalid_argument, "moved from");
  EXPECT_ERROR((void)kernel.parameters(), ErrorCode::invalid_argument, "moved from");
}

TEST(OwnKernelTest, shapes_are_checked_against_the_kernels_limits) {
  const Device device = open("minimal:0");
  const auto kernel = device.compile(saxpy());
  const auto x = device.allocate<float>(4);
  const auto y = device.allocate<float>(4);
  Queue queue(device);
  EXPECT_ERROR(queue.launch(kernel, {{0}, {4}}, x, y, 1.0F), ErrorCode::invalid_argument, "groups in x", "is 0");
  EXPECT_ERROR(queue.launch(kernel, {{1}, {2048}}, x, y, 1.0F), ErrorCode::invalid_argument, "2048", "1024");
  EXPECT_ERROR(queue.launch(kernel, {{1}, {64, 64}}, x, y, 1.0F), ErrorCode::invalid_argument, "4096", "1024");
  EXPECT_ERROR(queue.launch(kernel, {{UINT64_MAX}, {4}}, x, y, 1.0F), ErrorCode::invalid_argument, "groups in x");
  const std::uint64_t many = std::uint64_t{1} << 40;  // each extent fits, their product does not
  EXPECT_ERROR(queue.launch(kernel, {{many, many}, {1}}, x, y, 1.0F), ErrorCode::invalid_argument, "groups in y");
}

TEST(OwnKernelTest, local_memory_is_checked_against_the_limit) {
  const Device device = open("minimal:0");
  const auto kernel = device.compile(
      {.name = "uses", .parameters = {local<double>("scratch")}, .cpu = [](const WorkGroup&, LocalMemory<double>) {}});
  Queue queue(device);
  queue.launch(kernel, {}, local_memory<double>(8192));
  EXPECT_ERROR(queue.launch(kernel, {}, local_memory<double>(8193)), ErrorCode::invalid_argument, "65544", "65536");
  EXPECT_ERROR(queue.launch(kernel, {}, local_memory<double>(SIZE_MAX)), ErrorCode::invalid_argument, "65536");
  EXPECT_ERROR(queue.launch(kernel, {}, local_memory<double>(0)), ErrorCode::invalid_argument, "'scratch'",
               "0 elements");
}

}  // namespace
}  // namespace tessera
