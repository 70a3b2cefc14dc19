// When Winograd's algorithm is worth its transforms, and how many tiles go at once: numbers that were measured.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/sentence.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_winograd.h"

namespace tessera::opencl {

namespace {

using backend::sentence;
using backend::Verdict;

/// What a processor could multiply while it makes one number of transformed pixels, or takes one of products back, by
/// processor time of each launch, PoCL 3.1 on two Sapphire Rapids cores, the study's layer; and while it reads one of
/// transformed weights from memory, which every chunk does. Where a chunk's matrices stay near a core, making a number
/// takes less: 82 and 63 by the shortest times of 64 to 128 channels to as many, 3 x 3, 32 x 32, on the same cores,
/// without a committed file.
/// There 60 to 40 channels, 5 x 5, 30 x 30, take 0.50 ms against 0.77 of implicit_gemm_panels, and 128 to 64, 3 x 3,
/// 32 x 32, 0.86 against 1.12.
constexpr double kProductsOfPixel = 135, kProductsOfNearPixel = 90, kProductsOfSum = 67, kProductsOfWeight = 20;
constexpr std::int64_t kNearBytes = std::int64_t{8} << 20U;
/// It must be ahead by so much, since the count is off by some percent.
constexpr double kAhead = 1.15;

/// `direct` products, and those that fill up implicit_gemm_panels' last panel: 177 to 18 channels, 5 x 5, 29 x 29, take
/// 0.42 ms on two cores of an EPYC, PoCL 3.1, and 1.08 by panels of 32 (without a committed file).
double products_in_panels(const CnnLayer& p, double direct, const DeviceFacts& facts) {
  return direct * static_cast<double>(implicit_gemm_padded_outputs(p, implicit_gemm_panels(p, facts))) /
         static_cast<double>(p.output_channels);
}

Verdict pays_on_processor(const CnnLayer& p, double direct, std::int64_t outputs, const CnnLayerWinogradForm& form) {
  const CnnLayerWinogradPlan plan(p, form, outputs, cnn_layer_winograd_tunables(p, form).back().preferred);
  const auto channels = static_cast<double>(p.input_channels);
  const auto sums = static_cast<double>(p.output_channels);
  const double chunks = static_cast<double>(plan.points) * static_cast<double>(plan.passes * plan.scalars.chunks);
  const auto tiles = static_cast<double>(plan.scalars.chunk);
  const std::int64_t chunk_bytes = plan.points * (plan.scalars.input_matrix + plan.scalars.product_matrix) *
                                   static_cast<std::int64_t>(size_bytes(p.type));
  const double of_pixel = chunk_bytes <= kNearBytes ? kProductsOfNearPixel : kProductsOfPixel;
  const double taken = chunks * (tiles * (channels * sums + of_pixel * channels + kProductsOfSum * sums) +
                                 kProductsOfWeight * channels * sums);
  if (kAhead * taken <= direct) return Verdict::yes();
  return Verdict::no(
      sentence("winograd takes as long as ", taken, " products, its transforms included, but the sums are ", direct));
}

/// Counted for each tile: input_channels * output_channels times the products saved against input_channels +
/// output_channels times the bytes of one channel, and small layers by what five launches cost. Both limits are those
/// of the same algorithm through CUDA; on an H200 (driver 580) 64 channels to 64, 3 x 3, 56 x 56, take 39 us against
/// 20 of implicit_gemm_local on one image and 60 against 63 on eight.
Verdict pays_on_gpu(const CnnLayer& p, double direct, std::int64_t outputs) {
  constexpr double kLeastProducts = 300e6;
  if (direct < kLeastProducts) {
    return Verdict::no(
        sentence("cnn_layer has ", direct, " products, but winograd gains from ", kLeastProducts, " on"));
  }
  const std::int64_t enough = p.filter_height == 3 ? 20 : outputs == 4 ? 11 : 34;
  const std::int64_t c = p.input_channels;
  const std::int64_t o = p.output_channels;
  if (c * o >= enough * (c + o)) return Verdict::yes();
  return Verdict::no(sentence("with ", c, " input_channels and ", o,
                              " output_channels of cnn_layer the transforms of winograd cost more than they save"));
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
  const double direct = static_cast<double>(problem.batch) * static_cast<double>(problem.convolved_height()) *
                        static_cast<double>(problem.convolved_width()) * static_cast<double>(problem.input_channels) *
                        static_cast<double>(problem.output_channels) *
                        static_cast<double>(problem.filter_height * problem.filter_width);
  const DeviceFacts& facts = device.facts();
  if (facts.info.kind != DeviceKind::cpu) return pays_on_gpu(problem, direct, outputs);
  return pays_on_processor(problem, products_in_panels(problem, direct, facts), outputs, form);
}

}  // namespace tessera::opencl
