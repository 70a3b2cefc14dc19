// The steps that every backend goes through. Each makes what it needs and lets go of it.
#include "fault/scenario_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tessera::fault {

namespace {

bool is_near(float result, double expected) {
  return std::fabs(static_cast<double>(result) - expected) <= 1e-3 * std::max(1.0, std::fabs(expected));
}

KernelSource twice_source() {
  return {.name = "twice",
          .parameters = {input<float>("x"), output<float>("y"), scalar<float>("factor")},
          .opencl = R"(
__kernel void twice(__global const float* x, __global float* y, float factor) {
  y[get_global_id(0)] = factor * x[get_global_id(0)];
})",
          .cuda = R"(
extern "C" __global__ void twice(const float* x, float* y, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = factor * x[i];
})",
          .cpu = [](const WorkGroup& group, std::span<const float> x, std::span<float> y, float factor) {
            group.for_each_item([&](const WorkItem& item) { y[item.global.x] = factor * x[item.global.x]; });
          }};
}

bool round_trip(ScenarioBench& bench) {
  const auto uploaded = bench.device->upload<float>(bench.numbers);
  const auto taken = bench.device->allocate<float>(bench.numbers.size());
  const auto borrowed = bench.device->allocate<float>(bench.numbers.size());
  bench.queue->upload(taken, std::vector<float>(bench.numbers));
  bench.queue->upload(borrowed, bench.numbers);
  const std::span<float> host = borrowed_memory(bench.numbers.size());
  bench.queue->download(taken, host);
  auto first = bench.queue->download(uploaded);
  auto second = bench.queue->download(borrowed);
  bench.queue->finish();
  return std::equal(host.begin(), host.end(), bench.numbers.begin()) && first.get() == bench.numbers &&
         second.get() == bench.numbers;
}

bool fills_and_copies(ScenarioBench& bench) {
  constexpr std::size_t kCount = 1000;
  const auto bytes = bench.device->allocate<std::uint8_t>(kCount);
  const auto shorts = bench.device->allocate<std::int16_t>(kCount);
  const auto doubles = bench.device->allocate<double>(kCount);
  bench.queue->fill(bytes, std::uint8_t{7});
  bench.queue->fill(shorts, std::int16_t{-300});
  bench.queue->fill(doubles, 1.5);
  bench.queue->fill(doubles.view(10, 20), 2.5);
  const auto copied = bench.device->allocate<double>(kCount);
  bench.queue->copy(copied, doubles);
  std::vector<double> expected(kCount, 1.5);
  std::fill_n(expected.begin() + 10, 20, 2.5);
  auto result = bench.queue->download(copied);
  return bench.queue->download(bytes).get() == std::vector<std::uint8_t>(kCount, 7) &&
         bench.queue->download(shorts).get() == std::vector<std::int16_t>(kCount, -300) && result.get() == expected;
}

bool multiply(ScenarioBench& bench, const std::string& variant) {
  constexpr std::int64_t kSize = 24;
  constexpr std::size_t kElements = kSize * kSize;
  const Gemm problem{.m = kSize, .n = kSize, .k = kSize};
  const auto kernel = bench.device->kernel(problem, {.variant = variant});
  const auto a = bench.device->upload<float>(std::span(bench.numbers).first(kElements));
  const auto c = bench.device->allocate<float>(kElements);
  bench.queue->fill(c, std::numeric_limits<float>::quiet_NaN());
  bench.queue->run(kernel, {.a = a, .b = a, .c = c});
  const std::vector<float> result = bench.queue->download(c).get();
  for (std::size_t i = 0; i < kSize && bench.options.kernels_compute; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < kSize; ++p) {
        sum += static_cast<double>(bench.numbers[i * kSize + p]) * bench.numbers[p * kSize + j];
      }
      if (!is_near(result[i * kSize + j], sum)) return false;
    }
  }
  return true;
}

/// A filter of ones over an image of twos: each output is twice the number of places of the filter inside of the image.
bool filter_image(ScenarioBench& bench, std::int64_t size, const std::string& variant) {
  constexpr std::int64_t kHeight = 12;
  constexpr std::int64_t kWidth = 20;
  const Conv2d problem{.height = kHeight,
                       .width = kWidth,
                       .filter_height = size,
                       .filter_width = size,
                       .filter = std::vector<double>(static_cast<std::size_t>(size * size), 1.0),
                       .type = DataType::int32};
  const auto kernel = bench.device->kernel(problem, {.variant = variant});
  const auto image = bench.device->upload<std::int32_t>(std::vector<std::int32_t>(kHeight * kWidth, 2));
  const auto output = bench.device->allocate<std::int32_t>(kHeight * kWidth);
  bench.queue->run(kernel, {.image = image, .output = output});
  const std::vector<std::int32_t> result = bench.queue->download(output).get();
  const std::int64_t before = (size - 1) / 2;
  const auto places = [&](std::int64_t at, std::int64_t length) {
    return std::min(length, at - before + size) - std::max<std::int64_t>(0, at - before);
  };
  for (std::int64_t y = 0; y < kHeight && bench.options.kernels_compute; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      if (result[static_cast<std::size_t>(y * kWidth + x)] != 2 * places(y, kHeight) * places(x, kWidth)) return false;
    }
  }
  return true;
}

/// 3 x 3 x 2 weights of a half under an image of ones with padding, prepared and raw, largest of 2 x 2: all nine places
/// of a window's filter lie inside once.
bool run_layer(ScenarioBench& bench, const std::string& variant) {
  const CnnLayer problem{.input_channels = 2,
                         .output_channels = 3,
                         .height = 6,
                         .width = 6,
                         .filter_height = 3,
                         .filter_width = 3,
                         .padding = 1,
                         .pool_size = 2};
  constexpr std::size_t kOutputs = 3 * 3 * 3;
  const auto kernel = bench.device->kernel(problem, {.variant = variant});
  const auto image = bench.device->upload<float>(std::vector<float>(2 * 6 * 6, 1.0F));
  const auto weights = bench.device->upload<float>(std::vector<float>(3 * 2 * 3 * 3, 0.5F));
  const auto bias = bench.device->upload<float>(std::vector<float>(3, 1.0F));
  const auto from_prepared = bench.device->allocate<float>(kOutputs);
  const auto from_raw = bench.device->allocate<float>(kOutputs);
  const PreparedWeights prepared = bench.queue->prepare_weights(kernel, weights);
  bench.queue->run(kernel, {.input = image, .weights = prepared, .bias = bias, .output = from_prepared});
  bench.queue->run(kernel, {.input = image, .weights = weights, .bias = bias, .output = from_raw});
  auto first = bench.queue->download(from_prepared);
  const std::vector<float> second = bench.queue->download(from_raw).get();
  const auto is_ten = [](float value) { return is_near(value, 10.0); };
  const std::vector<float> from_first = first.get();
  return !bench.options.kernels_compute || (std::all_of(from_first.begin(), from_first.end(), is_ten) &&
                                            std::all_of(second.begin(), second.end(), is_ten));
}

/// Nothing if the compiler is not installed and need not be.
std::optional<OwnKernel> compiled(const ScenarioBench& bench) {
  try {
    return bench.device->compile(twice_source());
  } catch (const Error& error) {
    const std::string& compiler = bench.options.dispensable_compiler;
    const bool is_absent = !compiler.empty() && error.code() == ErrorCode::unavailable &&
                           std::string(error.what()).find(compiler) != std::string::npos;
    if (!is_absent) throw;
    return std::nullopt;
  }
}

bool own_kernel(ScenarioBench& bench) {
  constexpr std::uint64_t kGroup = 16;
  const std::optional<OwnKernel> kernel = compiled(bench);
  if (!kernel) return true;
  const auto x = bench.device->upload<float>(bench.numbers);
  const auto y = bench.device->allocate<float>(bench.numbers.size());
  bench.queue->launch(*kernel, {.groups = {bench.numbers.size() / kGroup}, .group_size = {kGroup}}, x, y, 2.0F);
  std::vector<float> result = bench.queue->download(y).get();
  if (!bench.options.kernels_compute) return true;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] != 2 * bench.numbers[i]) return false;
  }
  return true;
}

bool two_queues(ScenarioBench& bench) {
  Queue other(*bench.device, {.label = "the other queue"});
  const auto a = bench.device->allocate<float>(bench.numbers.size());
  const auto b = bench.device->allocate<float>(bench.numbers.size());
  bench.queue->upload(a, std::vector<float>(bench.numbers));
  const Event written = bench.queue->record();
  other.wait(written);
  other.copy(b, a);
  const Event copied = other.record();
  auto result = other.download(b);
  static_cast<void>(copied.is_done());
  copied.wait();
  const double seconds = seconds_between(written, copied);
  other.finish();
  return result.get() == bench.numbers && seconds > -1.0 && copied.is_done();
}

bool pinned(ScenarioBench& bench) {
  const auto from = bench.device->allocate_pinned<float>(bench.numbers.size());
  const auto to = bench.device->allocate_pinned<float>(bench.numbers.size());
  std::copy(bench.numbers.begin(), bench.numbers.end(), from.begin());
  const auto buffer = bench.device->allocate<float>(bench.numbers.size());
  bench.queue->upload(buffer, from);
  bench.queue->download(buffer, to);
  bench.queue->finish();
  return std::equal(bench.numbers.begin(), bench.numbers.end(), to.begin());
}

bool between_devices(ScenarioBench& bench) {
  const Device other = open(bench.options.other_device);
  Queue other_queue(other);
  const auto source = other.upload<float>(bench.numbers);
  const auto here = bench.device->allocate<float>(bench.numbers.size());
  bench.queue->copy(here, source);
  bench.queue->finish();
  const auto back = other.allocate<float>(bench.numbers.size());
  other_queue.copy(back, here);
  return other_queue.download(back).get() == bench.numbers;
}

/// Memory that goes round: what is given back is handed out again, perhaps while a queue still uses it.
bool reuse(ScenarioBench& bench) {
  constexpr std::size_t kRounds = 12;
  const std::uint64_t in_use_before = bench.device->memory().in_use_bytes;
  std::vector<Download<float>> results;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const auto buffer = bench.device->allocate<float>(1000 + i);
    bench.queue->fill(buffer, static_cast<float>(i));
    results.push_back(bench.queue->download(buffer));
  }
  static_cast<void>(bench.device->memory());
  for (std::size_t i = 0; i < kRounds; ++i) {
    if (results[i].get() != std::vector<float>(1000 + i, static_cast<float>(i))) return false;
  }
  static_cast<void>(bench.device->trim());
  return bench.device->memory().in_use_bytes <= in_use_before;  // trim() takes an idle workspace too
}

/// The queue goes while its work is under way, and what it works on goes before it.
bool abandoned_queue(ScenarioBench& bench) {
  auto result = [&] {
    Queue queue(*bench.device, {.label = "the abandoned queue"});
    const auto buffer = bench.device->allocate<float>(bench.numbers.size());
    queue.upload(buffer, std::vector<float>(bench.numbers));
    return queue.download(buffer);
  }();
  return result.get() == bench.numbers;
}

bool explanations(ScenarioBench& bench) {
  const auto reports = explain(Gemm{.m = 24, .n = 24, .k = 24}, *bench.device);
  return !bench.device->info().name.empty() &&
         std::any_of(reports.begin(), reports.end(), [](const VariantReport& report) { return report.can_run; });
}

/// "gemm", or "gemm naive" where a variant is forced.
std::string name_of(const std::string& what, const std::string& variant) {
  return variant.empty() ? what : what + " " + variant;
}

}  // namespace

std::vector<ScenarioStep> shared_steps(const ScenarioOptions& options) {
  std::vector<ScenarioStep> steps;
  if (options.asks_every_variant) steps.push_back({"explain", explanations});
  steps.push_back({"round_trip", round_trip});
  steps.push_back({"fills_and_copies", fills_and_copies});
  for (const std::string& variant : options.gemm_variants) {
    steps.push_back({name_of("gemm", variant), [variant](ScenarioBench& bench) { return multiply(bench, variant); }});
  }
  for (const std::string& variant : options.conv2d_variants) {
    for (const std::int64_t size : {3, 4}) {
      steps.push_back({name_of("conv2d " + std::to_string(size), variant),
                       [size, variant](ScenarioBench& bench) { return filter_image(bench, size, variant); }});
    }
  }
  for (const std::string& variant : options.cnn_layer_variants) {
    steps.push_back(
        {name_of("cnn_layer", variant), [variant](ScenarioBench& bench) { return run_layer(bench, variant); }});
  }
  steps.push_back({"own_kernel", own_kernel});
  steps.push_back({"two_queues", two_queues});
  steps.push_back({"stream", stream_slabs});
  steps.push_back({"pinned", pinned});
  steps.push_back({"abandoned_queue", abandoned_queue});
  if (!options.other_device.empty()) steps.push_back({"between_devices", between_devices});
  steps.push_back({"reuse", reuse});
  return steps;
}

}  // namespace tessera::fault
