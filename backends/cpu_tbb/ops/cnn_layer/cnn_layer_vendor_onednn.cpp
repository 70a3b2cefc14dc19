// The variant "vendor_onednn": oneDNN's convolution with ReLU, then its max-pool, a yardstick for our own.
//
// oneDNN's ReLU and pool hide a NaN. So input, weights and bias are looked over first, on all threads, and where one
// holds a number that is not finite the plain loops compute the layer, from a copy of the raw weights. What overflows
// inside of oneDNN is not found.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "backend/sentence.h"
#include "mathematics/division.h"
#include "ops/cnn_layer/cnn_layer_finish.h"
#include "ops/cnn_layer/cnn_layer_plain.h"
#include "ops/cnn_layer/cnn_layer_variants.h"
#include "vendor/cpu_tbb_onednn_layer.h"

namespace tessera::cpu_tbb {

namespace {

bool holds_finite(Executor& executor, const float* numbers, std::int64_t count) {
  constexpr std::int64_t kChunk = 1 << 16;
  std::atomic<bool> is_finite = true;
  executor.parallel_for(mathematics::ceil_div(count, kChunk), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * kChunk;
    if (!all_finite(numbers + begin, std::min(count, last * kChunk) - begin)) is_finite = false;
  });
  return is_finite;
}

constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();

backend::Verdict check(const CnnLayer& problem, const backend::Device&) {
  if (problem.type != DataType::float32)
    return backend::Verdict::no(backend::sentence("the type of cnn_layer is ", to_string(problem.type),
                                                  ", but oneDNN convolves float32 alone"));
  if (problem.batch == 0) return backend::Verdict::no("batch of cnn_layer is 0, but oneDNN takes at least 1");
  // Asked about a row of 2^31 pixels, oneDNN 2.6 thinks for a quarter of a minute and takes 24 GB.
  const std::int64_t inputs = problem.batch * problem.input_channels * problem.height * problem.width;
  const std::int64_t sums =
      problem.batch * problem.output_channels * problem.convolved_height() * problem.convolved_width();
  if (std::max(inputs, sums) > kMostElements)
    return backend::Verdict::no(backend::sentence("an operand of cnn_layer has ", std::max(inputs, sums),
                                                  " elements, but oneDNN is asked for ", kMostElements, " at most"));
  return check_onednn_layer(problem);
}

std::unique_ptr<backend::Kernel> make(const CnnLayer& problem, backend::Device& device, const Tuning&) {
  const auto layer = std::make_shared<const OnednnLayer>(problem, static_cast<int>(device.info().compute_units));
  const std::int64_t weights =
      problem.output_channels * problem.input_channels * problem.filter_height * problem.filter_width;
  // Prepared: whether all weights are finite, the raw ones, and oneDNN's.
  constexpr std::size_t kLine = 64;
  const std::size_t raw_bytes = (static_cast<std::size_t>(weights) * sizeof(float) + kLine - 1) / kLine * kLine;
  CpuTbbKernel::Preparation preparation;
  preparation.size_bytes = kLine + raw_bytes + layer->prepared_bytes();
  preparation.prepare = [layer, weights, raw_bytes](Executor& executor, const std::byte* raw, std::byte* prepared) {
    *reinterpret_cast<bool*>(prepared) = holds_finite(executor, reinterpret_cast<const float*>(raw), weights);
    std::copy_n(raw, static_cast<std::size_t>(weights) * sizeof(float), prepared + kLine);
    layer->prepare(executor, raw, prepared + kLine + raw_bytes);
  };
  return std::make_unique<CpuTbbKernel>(
      [problem, layer, raw_bytes](Executor& executor, OperandAddresses operands) {
        CnnOperands<float> plain(problem, operands);
        const auto* const prepared = operands[1];
        const std::int64_t pixels = problem.batch * problem.input_channels * problem.height * problem.width;
        const bool is_finite = *reinterpret_cast<const bool*>(prepared) &&
                               holds_finite(executor, plain.input.data, pixels) &&
                               (plain.bias == nullptr || holds_finite(executor, plain.bias, problem.output_channels));
        if (is_finite) return layer->run(executor, operands[0], prepared + kLine + raw_bytes, operands[2], operands[3]);
        plain.weights = reinterpret_cast<const float*>(prepared + kLine);
        executor.parallel_for(problem.batch * problem.output_channels,
                              [&](std::int64_t first, std::int64_t last) { cnn_planes(plain, first, last); });
      },
      std::move(preparation));
}

}  // namespace

backend::Variant<CnnLayer> cnn_layer_vendor_onednn() {
  return {
      .name = "vendor_onednn",
      .summary = "oneDNN's convolution with ReLU, then its max-pool, opened at run time if it is there",
      .check = check,
      .tunables = nullptr,
      .make = make,
  };
}

}  // namespace tessera::cpu_tbb
