// Choice by the model of gemm's split_mma, whose tiles these are too. What was seen: docs/decisions/0030.
#include "ops/cnn_layer/cnn_layer_split_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "backend/sentence.h"
#include "cuda_device.h"
#include "ops/cnn_layer/cnn_layer_product.h"
#include "ops/cnn_layer/cnn_layer_split_sizes.h"
#include "ops/gemm/gemm_register_choice.h"
#include "ops/gemm/gemm_split_mma_choice.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

/// Of the three launches before the products, and bytes that they read and write in a microsecond.
constexpr double kPrepareStart_us = 9;
constexpr double kPrepareBytesPerMicrosecond = 2e6;
/// It must be ahead of implicit_gemm by so much: its model is that of gemm's split_mma, and few layers were measured.
constexpr double kAhead = 1.25;

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

}  // namespace

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
  const CnnLayerSplitSizes sizes(problem);
  const auto pixels = static_cast<double>(problem.batch) * static_cast<double>(sizes.plane_pixels);
  const double bytes = pixels * (8 * static_cast<double>(problem.input_channels) +
                                 static_cast<double>(sizes.channel_chunks * kSplitPlanes * kSplitChunkBytes));
  const double own = kPrepareStart_us + bytes / kPrepareBytesPerMicrosecond + fastest(problem, card).us;
  const double other = gemm_register_microseconds(CnnLayerProduct(problem).as_gemm(problem.type, problem.batch), card);
  if (own * kAhead <= other) return Verdict::yes();
  return Verdict::no(sentence("it is expected to take ", std::lround(own), " us, splitting pixels included, and ",
                              "implicit_gemm ", std::lround(other), " us"));
}

const SplitMmaShape& cnn_layer_split_shape(std::int64_t tile_m, std::int64_t tile_n) {
  return *std::find_if(
      std::begin(kCnnLayerSplitShapes), std::end(kCnnLayerSplitShapes),
      [&](const SplitMmaShape& shape) { return shape.tile_m() == tile_m && shape.tile_n() == tile_n; });
}

}  // namespace tessera::cuda
