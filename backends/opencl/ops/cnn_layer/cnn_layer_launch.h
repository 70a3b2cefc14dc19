// What the host code of every cnn_layer kernel shares: the program's source and options, the layer as kernels take it,
// the preparation of weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/ops/cnn_layer.h>

#include "backend/variant.h"
#include "mathematics/cnn_layer_pool.h"
#include "opencl_device.h"
#include "opencl_kernel.h"
#include "opencl_launch_shape.h"

namespace tessera::opencl {

/// Places of the operands in CnnLayer::Operands.
inline constexpr std::size_t kCnnInput = 0;
inline constexpr std::size_t kCnnWeights = 1;
inline constexpr std::size_t kCnnBias = 2;
inline constexpr std::size_t kCnnOutput = 3;

/// Layer of cnn_layer_images.cl.
struct CnnLayerShape {
  cl_long batch, input_channels, output_channels;
  cl_long height, width;
  cl_long filter_height, filter_width;
  cl_long stride, padding;
  cl_long pool_size, pool_stride;
  cl_long convolved_height, convolved_width;
  cl_long output_height, output_width;
  cl_long input_image, input_channel, input_pixel;
  cl_long output_image, output_channel, output_pixel;
  cl_int has_bias;
  cl_int relu;
};
static_assert(sizeof(CnnLayerShape) == 176, "cnn_layer_images.cl says so too");
[[nodiscard]] CnnLayerShape cnn_layer_shape(const CnnLayer& problem) noexcept;

/// Yes unless the device cannot compute in the problem's type.
[[nodiscard]] backend::Verdict check_cnn_layer_type(const CnnLayer& problem, const DeviceFacts& facts);

using mathematics::has_plain_pool;  // the pool that is done in registers

/// The program `text` with the problem's type and `more_options` as options. `name` is for errors.
[[nodiscard]] ProgramSource cnn_layer_program(std::string name, std::string_view text, const CnnLayer& problem,
                                              const std::string& more_options = {});

/// Input, weights, bias and output as the memory that a launch begins with.
[[nodiscard]] std::vector<MemoryArgument> cnn_layer_operands(const CnnLayer& problem);

/// The form that cnn_layer_weights.cl gives weights: panels of output channels, in them a row for each step along k,
/// and three numbers for each step behind. It is that file's Form too.
struct CnnWeightsForm {
  cl_long steps = 0;         ///< input channels times places of the filter
  cl_long padded_steps = 0;  ///< rows of a panel
  cl_long panel = 0;         ///< output channels of a panel
  cl_long panels = 1;
  cl_long chunk = 1;  ///< input channels that follow each other at one place of the filter
  /// Elements from one pixel to the next, of the images that will be read.
  cl_long channel_step = 0;
  cl_long row_step = 0;
  cl_long pixel_step = 0;

  [[nodiscard]] std::int64_t elements() const noexcept { return panels * padded_steps * panel; }
};
static_assert(sizeof(CnnWeightsForm) == 64, "cnn_layer_weights.cl says so too");

/// A form for the images as they are given.
[[nodiscard]] CnnWeightsForm cnn_weights_form(const CnnLayer& problem) noexcept;

[[nodiscard]] Preparation prepare_cnn_weights(const CnnLayer& problem, const OpenclDevice& device,
                                              const CnnWeightsForm& form);

}  // namespace tessera::opencl
