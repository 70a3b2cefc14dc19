// cnn_layer, implicit_gemm_local and implicit_gemm_panels: what the host code of both shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "ops/cnn_layer/cnn_layer_launch.h"

namespace tessera::opencl {

/// The values of the tunable split_k: parts of the steps, or fewer where there are few or the workspace is too small.
inline constexpr std::array<std::int64_t, 5> kImplicitGemmSplits{1, 2, 4, 8, 16};

/// Values for the tunables of both.
struct ImplicitGemmTuning {
  std::int64_t tile_m = 0;  ///< output channels that a group computes
  std::int64_t tile_n = 0;  ///< pixels that it computes; of implicit_gemm_local alone
  std::int64_t split_k = 1;
};
[[nodiscard]] Tunable split_k_tunable(const ImplicitGemmTuning& preferred);

/// Product of cnn_layer_product.cl.
struct CnnLayerProduct {
  cl_long steps, padded_steps, part_steps, panel, channel_blocks;
  cl_long columns, image_columns, row_windows;
  cl_long target_part, target_image, target_channel, target_pixel;
  cl_int pooled;
  cl_int is_part;
  cl_int grouped;
  cl_int unused;
};
static_assert(sizeof(CnnLayerProduct) == 112, "cnn_layer_product.cl says so too");

/// The convolution as a product of matrices: how much of it, and where its results go.
struct ProductPlan {
  /// `wanted_parts` of the steps, each a multiple of `depth` long. `joins`: where results can be finished by the groups
  /// that compute them, several parts are joined there (joined_parts.h).
  ProductPlan(const CnnLayer& problem, std::int64_t wanted_parts, std::int64_t depth, bool joins = false);

  std::int64_t steps;         ///< along k
  std::int64_t padded_steps;  ///< a multiple of the depth
  std::int64_t part_steps;
  std::int64_t parts;
  bool is_part;                ///< plain sums go to the workspace, and a second launch ends them
  bool pooled;                 ///< the product's launch pools itself
  std::int64_t image_columns;  ///< pixels of an image before the pool that are computed
  std::int64_t rows;           ///< of windows, or of pixels where the launch does not pool
  std::int64_t row_windows;
  std::int64_t sums_of_image;  ///< elements of the workspace for each part; 0 without

  /// For `images` images; what depends on the shape is still 0.
  [[nodiscard]] CnnLayerProduct product(const CnnLayer& problem, std::int64_t images) const;
};

/// Calls `make(first image, the problem for as many images as a workspace of the usual size holds)`.
void for_each_pass(const CnnLayer& problem, std::size_t workspace_of_image,
                   const std::function<void(std::int64_t, const CnnLayer&)>& make);
/// Images of the largest pass.
[[nodiscard]] std::int64_t images_of_pass(const CnnLayer& problem, std::size_t workspace_of_image) noexcept;

/// The launch that adds up parts, pools, adds the bias and applies ReLU, for one pass.
[[nodiscard]] OperatorLaunch finish_launch(const CnnLayer& pass, const OpenclDevice& device, const ProductPlan& plan,
                                           std::int64_t first_image, std::int64_t first_sum);

/// An operand from an image on.
[[nodiscard]] MemoryArgument from_image(std::size_t place, const CnnLayer& problem, std::int64_t image);

/// Yes if the device can run a tile of implicit_gemm_local. A tile that is offered works with every split_k.
[[nodiscard]] backend::Verdict check_implicit_gemm_local(const CnnLayer& problem, const OpenclDevice& device);

}  // namespace tessera::opencl
