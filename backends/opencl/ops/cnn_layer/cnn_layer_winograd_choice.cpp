// When Winograd's algorithm is worth its transforms, and how many tiles go at once: numbers that were measured.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd.h"
#include "mathematics/cnn_layer_winograd_savings.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// What a processor could multiply, by implicit_gemm_panels, while it does something else: of winograd for a point of a
/// tile, for each of its transformed pixels and sums and for each of its products; for each transformed weight, which
/// every chunk reads; and of implicit_gemm_panels for a pixel of the convolution and for each output of it. Fitted to
/// 46 random layers of 2 to 512 channels, PoCL 3.1 on two cores of an AMD EPYC, without a committed file: the choice
/// takes 1.03 times as long as the faster of the two in the geometric mean. Products cost more where all outputs lie in
/// one vector: 45 channels to 2, 5 x 5, 305 x 40, take 0.91 ms by winograd and 1.5 by panels of 16.
constexpr double kProductsOfPoint = 1100, kProductsOfPixel = 52, kProductsOfSum = 93, kProductsOfProduct = 0.93;
constexpr double kProductsOfWeight = 40;
constexpr double kProductsOfConvolved = 300, kProductsOfOutput = 37, kProductsOfProductInOneVector = 1.57;
/// It must be ahead by so much, since single layers are off by more than the mean.
constexpr double kAhead = 1.25;

/// implicit_gemm_panels, with those products that fill up its last panel.
double products_in_panels(const CnnLayer& p, double pixels, const DeviceFacts& facts) {
  const auto width = static_cast<std::int64_t>(facts.vector_bytes / size_bytes(p.type));
  const std::int64_t padded = implicit_gemm_padded_outputs(p, implicit_gemm_panels(p, facts));
  const double of_product = padded <= width ? kProductsOfProductInOneVector : 1;
  const auto k = static_cast<double>(p.input_channels * p.filter_height * p.filter_width);
  return pixels * (kProductsOfConvolved + of_product * k * static_cast<double>(padded) +
                   kProductsOfOutput * static_cast<double>(p.output_channels));
}

Verdict pays_on_processor(const CnnLayer& p, double others, std::int64_t outputs, const CnnLayerWinogradForm& form) {
  const CnnLayerWinogradPlan plan(p, form, outputs, cnn_layer_winograd_tunables(p, form).back().preferred);
  const auto channels = static_cast<double>(p.input_channels);
  const auto sums = static_cast<double>(p.output_channels);
  const double chunks = static_cast<double>(plan.points) * static_cast<double>(plan.passes * plan.scalars.chunks);
  const double of_tile =
      kProductsOfPoint + kProductsOfPixel * channels + kProductsOfSum * sums + kProductsOfProduct * channels * sums;
  const double taken =
      chunks * (static_cast<double>(plan.scalars.chunk) * of_tile + kProductsOfWeight * channels * sums);
  if (kAhead * taken <= others) return Verdict::yes();
  return Verdict::no(sentence("winograd takes as long as ", taken, " products, its transforms included, but ",
                              "implicit_gemm_panels as ", others));
}

/// Small layers by what their launches cost, which are four with products by tensor cores and five otherwise, and with
/// 3 x 3 so many more products for each pixel of each channel that is transformed. On an H200 (without a file),
/// implicit_gemm_local beside winograd_split and winograd, 3 x 3: 128 channels to 128 on 28 x 28, 116e6 products, take
/// 17 us, 22 and 31, on two images 28, 22 and 29; 64 to 64 on two of 56 x 56, 231e6, 22, 23 and 31, on three 45, 28 and
/// 39; 256 to 256 on two of 14 x 14, 231e6, 30, 24 and 28; 384 to 256 on 13 x 13, 150e6, 28, 26 and 35; 111 to 13 on
/// 248 x 40, 317e6, 38, 32 and 39. With 5 x 5 191 to 26 take 32, 25 and 29 on 58 x 21, 186e6, and 64 to 64 23, 22 and
/// 37 on 40 x 40, 164e6.
constexpr double kLeastProductsOfSplit = 170e6, kLeastProducts = 230e6, kProductsOfPixelOnGpu = 90;

Verdict pays_on_gpu(const CnnLayer& p, std::int64_t outputs, bool is_split) {
  std::string reason = mathematics::why_winograd_saves_too_little(
      p, outputs, is_split ? kLeastProductsOfSplit : kLeastProducts, p.filter_height == 3 ? kProductsOfPixelOnGpu : 0);
  return reason.empty() ? Verdict::yes() : Verdict::no(std::move(reason));
}

}  // namespace

/// More tiles at once mean fewer launches with idle compute units at their ends: the study's layer by winograd_split
/// on an H200 takes 418 us in one chunk, 439 in chunks of 2048 tiles and 531 of 512.
std::int64_t cnn_layer_winograd_chunk_bytes(const DeviceFacts& facts) noexcept {
  constexpr std::int64_t kMost = std::int64_t{512} << 20U, kMemoryShare = 8;
  return std::min(kMost, static_cast<std::int64_t>(facts.info.memory_total_bytes / kMemoryShare));
}

Verdict cnn_layer_winograd_pays(const CnnLayer& problem, const OpenclDevice& device, const CnnLayerWinogradForm& form) {
  const std::int64_t outputs = mathematics::cnn_layer_winograd_tiles(problem, form.of_sums).front();
  const DeviceFacts& facts = device.facts();
  if (facts.info.kind != DeviceKind::cpu) return pays_on_gpu(problem, outputs, form.in_blocks);
  const double pixels = static_cast<double>(problem.batch) * static_cast<double>(problem.convolved_height()) *
                        static_cast<double>(problem.convolved_width());
  return pays_on_processor(problem, products_in_panels(problem, pixels, facts), outputs, form);
}

}  // namespace tessera::opencl
