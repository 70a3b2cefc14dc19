// Each step is right or throws. The kernels that the fake card does not compute are launched for their calls alone.
#include "fault/cuda/cuda_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::fault {
namespace {

/// Three pieces of the staging memory.
constexpr std::size_t kStaged = (std::size_t{9} << 20) / sizeof(float);

bool staged_copies(ScenarioBench& bench) {
  std::vector<float> host(kStaged);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 17) - 8;
  const std::span<float> back = borrowed_memory(kStaged);
  auto memory = bench.device->allocate<float>(kStaged);
  bench.queue->upload(memory, std::vector<float>(host));
  bench.queue->download(memory, back);
  auto third = bench.queue->download(memory);
  bench.queue->finish();
  return std::equal(back.begin(), back.end(), host.begin()) && third.get() == host;
}

/// Twice, the second time on what the first gave, so that there is more than one launch under way.
bool gemm_naive(ScenarioBench& bench) {
  constexpr std::size_t kSize = 24;
  auto kernel = bench.device->kernel(Gemm{.m = kSize, .n = kSize, .k = kSize, .alpha = 0.5}, {.variant = "naive"});
  auto a = bench.device->upload<float>(std::vector<float>(kSize * kSize, 1));
  auto b = bench.device->upload<float>(std::vector<float>(kSize * kSize, 2));
  auto c = bench.device->allocate<float>(kSize * kSize);
  auto d = bench.device->allocate<float>(kSize * kSize);
  bench.queue->run(kernel, {.a = a, .b = b, .c = c});
  bench.queue->run(kernel, {.a = c, .b = b, .c = d});
  return bench.queue->download(d).get() == std::vector<float>(kSize * kSize, kSize * kSize);
}

bool gemm_with_parts(ScenarioBench& bench) {
  auto kernel =
      bench.device->kernel(Gemm{.m = 64, .n = 64, .k = 2000}, {.variant = "register", .tuning = {{"split_k", 8}}});
  auto a = bench.device->allocate<float>(64 * 2000);
  auto c = bench.device->allocate<float>(64 * 64);
  bench.queue->run(kernel, {.a = a, .b = a, .c = c});
  bench.queue->finish();
  return true;
}

bool cnn_layer(ScenarioBench& bench, const char* variant, std::int64_t channels) {
  const CnnLayer problem{.batch = 2,
                         .input_channels = channels,
                         .output_channels = 16,
                         .height = 20,
                         .width = 20,
                         .filter_height = 3,
                         .filter_width = 3,
                         .pool_size = 2,
                         .layout = Layout::nhwc};
  auto kernel = bench.device->kernel(problem, {.variant = variant});
  auto input = bench.device->allocate<float>(2 * 400 * static_cast<std::size_t>(channels));
  auto weights = bench.device->allocate<float>(16 * 9 * static_cast<std::size_t>(channels));
  auto bias = bench.device->allocate<float>(16);
  auto output = bench.device->allocate<float>(2 * 16 * 81);
  auto prepared = bench.queue->prepare_weights(kernel, weights);
  bench.queue->run(kernel, {.input = input, .weights = prepared, .bias = bias, .output = output});
  bench.queue->run(kernel, {.input = input, .weights = weights, .bias = bias, .output = output});
  bench.queue->finish();
  return true;
}

}  // namespace

ScenarioOptions cuda_scenario() {
  return {.kernels_compute = false,
          .asks_every_variant = false,
          .dispensable_compiler = "NVRTC",
          .gemm_variants = {},
          .conv2d_variants = {"tiled"},
          .cnn_layer_variants = {},
          .own_steps = {
              {"copies in pieces", staged_copies},
              {"gemm naive", gemm_naive},
              {"gemm with parts", gemm_with_parts},
              {"cnn_layer with a table", [](ScenarioBench& bench) { return cnn_layer(bench, "implicit_gemm", 3); }},
              {"cnn_layer of many launches", [](ScenarioBench& bench) { return cnn_layer(bench, "winograd", 16); }},
          }};
}

}  // namespace tessera::fault
