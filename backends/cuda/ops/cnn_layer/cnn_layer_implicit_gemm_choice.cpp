// Chooses by gemm's model of the time with constants of its own: a group gathers its pixels and stores sums to planes,
// which takes longer than rows of a matrix, most with the largest tile.
#include "ops/cnn_layer/cnn_layer_implicit_gemm_choice.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "cuda_embedded.h"
#include "ops/cnn_layer/cnn_layer_limits.h"
#include "ops/cnn_layer/cnn_layer_product.h"

namespace tessera::cuda {
namespace {

// Fitted to 110 random layers in float32 on an H200 with each tile and k in one, but for 128 x 128: off by 10 to 11 %
// in the root mean square; what it chooses of these has 0.99 of the best one's speed in the mean, and 0.8 at least. No
// committed file has them. What a split of k costs was fitted to 22 layers on an H100, with k in two and four. Few sums
// were long: the rates of 128 x 128 are those of gemm, and none was let be faster than gemm is with long sums.
constexpr std::array<GemmRegisterSpeed, 6> kFloat32Speeds{{{{0.364, 0.495, 0.571, 0.581}, 3.30, 0.33},
                                                           {{0.487, 0.655, 0.692, 0.720}, 4.26, 0.10},
                                                           {{0.532, 0.730}, 3.68, 1.11},
                                                           {{0.604, 0.786}, 5.38, 0.80},
                                                           {{0.454, 0.762}, 9.61, 5.50},
                                                           {{0.672, 0.800}, 5.33, 0.82}}};
/// Of products whose steps come from a table.
constexpr std::array<double, 6> kFloat32FromTable{1.6, 2.4, 1.7, 2.0, 1.57, 1.6};
constexpr GemmRegisterSplitCost kFloat32Split{2.45, 3.1, 0.03, 0.78};
/// Those of gemm; nothing was measured.
constexpr std::array<GemmRegisterSpeed, 2> kFloat64Speeds{{{{0.549}, 1.59, 1.49}, {{0.79, 0.922}, 1.0, 3.0}}};
constexpr std::array<double, 2> kFloat64FromTable{1.57, 1.57};
constexpr GemmRegisterSplitCost kFloat64Split{1.62, 3.19, 0.015, 0.266};

/// For a megabyte of results: where an image's rows of results are alike, and where they begin at any element.
constexpr double kStoredMegabyte_us = 0.6, kUnalignedMegabyte_us = 1.06;
/// Where channels lie beside each other: the launch that turns pixels to planes, a megabyte of them, and a megabyte of
/// results.
constexpr double kPlanes_us = 1.8, kPlanesMegabyte_us = 0.55, kBesideMegabyte_us = 0.91;
/// The least that was measured of a launch.
constexpr double kLeast_us = 3.3;

GemmRegisterModel model_of(const CnnLayer& problem, const CnnLayerProduct& product) {
  GemmRegisterModel model{kFloat32Speeds, kFloat32Split, kFloat32FromTable};
  if (problem.type == DataType::float64) model = {kFloat64Speeds, kFloat64Split, kFloat64FromTable};
  if (product.is_wide) model.of_products = {};
  return model;
}

/// What does not depend on the tile: results, and pixels that are turned.
double moved_microseconds(const CnnLayer& problem) {
  const double element = 1e-6 * static_cast<double>(size_bytes(problem.type)) * static_cast<double>(problem.batch);
  const std::int64_t plane = problem.output_height() * problem.output_width();
  const double results = element * static_cast<double>(plane) * static_cast<double>(problem.output_channels);
  constexpr std::int64_t kAligned = 4;
  const bool is_unaligned = problem.layout == Layout::nchw && plane % kAligned != 0 && problem.pool_size == 1;
  const double us = results * (is_unaligned ? kUnalignedMegabyte_us : kStoredMegabyte_us);
  if (problem.layout == Layout::nchw) return us;
  const double pixels = element * static_cast<double>(problem.input_channels) * static_cast<double>(problem.height) *
                        static_cast<double>(problem.width);
  return us + kPlanes_us + kPlanesMegabyte_us * pixels + kBesideMegabyte_us * results;
}

}  // namespace

std::span<const GemmRegisterImage> cnn_layer_implicit_gemm_images(DataType type) {
  static const std::array<GemmRegisterImage, 6> kFloat32{{
      {gemm_register_shape<float>(32, 32), embedded::cnn_layer_implicit_gemm_float32_32x32},
      {gemm_register_shape<float>(32, 128), embedded::cnn_layer_implicit_gemm_float32_32x128},
      {gemm_register_shape<float>(64, 64), embedded::cnn_layer_implicit_gemm_float32_64x64},
      {gemm_register_shape<float>(64, 128), embedded::cnn_layer_implicit_gemm_float32_64x128},
      {gemm_register_shape<float>(128, 128), embedded::cnn_layer_implicit_gemm_float32_128x128},
      {gemm_register_shape<float>(64, 256), embedded::cnn_layer_implicit_gemm_float32_64x256},
  }};
  static const std::array<GemmRegisterImage, 2> kFloat64{{
      {gemm_register_shape<double>(32, 32), embedded::cnn_layer_implicit_gemm_float64_32x32},
      {gemm_register_shape<double>(64, 64), embedded::cnn_layer_implicit_gemm_float64_64x64},
  }};
  if (type == DataType::float64) return kFloat64;
  return kFloat32;
}

std::vector<std::int64_t> cnn_layer_implicit_gemm_splits(const CnnLayer& problem) {
  const std::int64_t groups = CnnLayerProduct(problem).groups;
  const auto sums =
      static_cast<double>(problem.output_channels * problem.convolved_height()) *
      static_cast<double>(problem.convolved_width() * static_cast<std::int64_t>(size_bytes(problem.type)));
  std::vector<std::int64_t> splits{1};
  for (std::int64_t split = 2; split <= 64 && split <= groups &&
                               sums * static_cast<double>(split) <= static_cast<double>(kCnnLayerLargestWorkspace);
       split *= 2) {
    splits.push_back(split);
  }
  return splits;
}

GemmRegisterEstimate fastest_cnn_layer_implicit_gemm(const CnnLayer& problem, const DeviceLimits& card) {
  const CnnLayerProduct product(problem);
  GemmRegisterEstimate best =
      fastest_gemm_register(product.as_gemm(problem.type, problem.batch), card, cnn_layer_implicit_gemm_splits(problem),
                            cnn_layer_implicit_gemm_images(problem.type), model_of(problem, product));
  best.us = std::max(best.us + moved_microseconds(problem), kLeast_us);
  return best;
}

}  // namespace tessera::cuda
