// Choice by the models of gemm's split_mma and register, whose tiles these and implicit_gemm's are too. What was seen:
// docs/decisions/0030.
#include "ops/cnn_layer/cnn_layer_split_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "backend/sentence.h"
#include "cuda_device.h"
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"
#include "ops/cnn_layer/cnn_layer_split_sizes.h"
#include "ops/gemm/gemm_split_mma_choice.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// What a layer takes by the model of its products: beside a start, so many times as long as these, and for each
/// megabyte of results that are stored, where rows of an image's results are alike and where they begin at any element.
struct Times {
  double start_us;
  double of_products;
  double stored_megabyte_us;
  double unaligned_megabyte_us;
};
// Fitted to 100 random layers on an H100 that take implicit_gemm_split at most 2.5 times as long as implicit_gemm: off
// by 7 and 12 % in the mean. Of 167 what is expected to be faster has 0.996 of the speed of the faster one, and 0.82 at
// least.
constexpr Times kSplit{10.2, 1.18, 0.5, 1.25};
/// For each megabyte that the launches before the products read and write.
constexpr double kPreparedMegabyte_us = 0.32;
/// How much longer products take whose pixels do not follow each other, for a pool's windows or a stride.
constexpr double kScattered = 1.3;
/// It must be ahead of implicit_gemm by so much; on cards where no layer was measured, by more.
constexpr double kAhead = 1.03, kAheadUnmeasured = 1.25;

static_assert(std::size(kCnnLayerSplitShapes) == std::size(kSplitMmaShapes) &&
                  kCnnLayerSplitShapes[0].tile_m() == kSplitMmaShapes[0].tile_m() &&
                  kCnnLayerSplitShapes[0].tile_n() == kSplitMmaShapes[0].tile_n() &&
                  kCnnLayerSplitShapes[1].tile_m() == kSplitMmaShapes[1].tile_m() &&
                  kCnnLayerSplitShapes[1].tile_n() == kSplitMmaShapes[1].tile_n(),
              "tunables and the model of the time are gemm's");

struct Estimate {
  std::size_t shape;
  double us;
};

/// Of the products alone.
Estimate fastest(const CnnLayer& problem, const DeviceLimits& card) {
  const CnnLayerSplitSizes sizes(problem);
  const auto us = [&](std::size_t shape) {
    const std::int64_t tiles = sizes.tiles(kCnnLayerSplitShapes[shape], std::max<std::int64_t>(problem.batch, 1));
    return split_mma_products_microseconds(static_cast<double>(tiles), static_cast<double>(sizes.steps) / kSplitStep,
                                           shape, card);
  };
  return us(0) <= us(1) ? Estimate{0, us(0)} : Estimate{1, us(1)};
}

double microseconds(const CnnLayer& problem, const Times& times, double products_us) {
  const std::int64_t plane = problem.output_height() * problem.output_width();
  const double megabytes = static_cast<double>(problem.batch) * static_cast<double>(plane) *
                           static_cast<double>(problem.output_channels) * sizeof(float) * 1e-6;
  constexpr std::int64_t kAligned = 4;
  const bool is_unaligned = problem.layout == Layout::nchw && plane % kAligned != 0 && problem.pool_size == 1;
  return times.start_us + times.of_products * products_us +
         megabytes * (is_unaligned ? times.unaligned_megabyte_us : times.stored_megabyte_us);
}

}  // namespace

double cnn_layer_split_microseconds(const CnnLayer& problem, const DeviceLimits& card) {
  const CnnLayerSplitSizes sizes(problem);
  const auto pixels = static_cast<double>(problem.batch) * static_cast<double>(sizes.plane_pixels);
  const double bytes = pixels * (8 * static_cast<double>(problem.input_channels) +
                                 static_cast<double>(sizes.channel_chunks * kSplitPlanes * kSplitChunkBytes));
  const bool is_scattered = problem.pool_size > 1 || problem.stride > 1;
  return microseconds(problem, kSplit, fastest(problem, card).us * (is_scattered ? kScattered : 1)) +
         bytes * 1e-6 * kPreparedMegabyte_us;
}

std::vector<Tunable> cnn_layer_split_tunables(const CnnLayer& problem, const backend::Device& device) {
  const std::size_t shape = fastest(problem, native(device).context()->limits()).shape;
  return split_mma_tunables(kSplitMmaShapes[shape], "output channels that one group computes",
                            "pixels that one group computes");
}

Verdict cnn_layer_split_pays(const CnnLayer& problem, const backend::Device& device) {
  const DeviceLimits& card = native(device).context()->limits();
  if (card.compute_capability_minor != 0 ||
      (card.compute_capability_major != 8 && card.compute_capability_major != 9)) {
    return Verdict::no(sentence("on compute capability ", card.compute_capability_major, ".",
                                card.compute_capability_minor,
                                " it was not measured, and fp16 need not be so much faster than float32 there"));
  }
  if (problem.batch == 0) return Verdict::no("there is nothing to multiply");
  const double own = cnn_layer_split_microseconds(problem, card);
  const double other = fastest_cnn_layer_implicit_gemm(problem, card).us;
  if (own * (card.compute_capability_major == 9 ? kAhead : kAheadUnmeasured) <= other) return Verdict::yes();
  return Verdict::no(sentence("it is expected to take ", std::lround(own), " us, splitting pixels included, and ",
                              "implicit_gemm ", std::lround(other), " us"));
}

const SplitMmaShape& cnn_layer_split_shape(std::int64_t tile_m, std::int64_t tile_n) {
  return *std::find_if(
      std::begin(kCnnLayerSplitShapes), std::end(kCnnLayerSplitShapes),
      [&](const SplitMmaShape& shape) { return shape.tile_m() == tile_m && shape.tile_n() == tile_n; });
}

}  // namespace tessera::cuda
