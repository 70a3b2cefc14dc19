// Options, arguments and prepared weights of cnn_layer's launches.
#include "ops/cnn_layer/cnn_layer_launch.h"

#include <utility>

#include "opencl_embedded.h"

namespace tessera::opencl {

namespace {

/// Elements from one channel, and from one pixel, to the next of packed images.
struct Steps {
  std::int64_t channel;
  std::int64_t pixel;
};
Steps steps_of(Layout layout, std::int64_t channels, std::int64_t pixels) noexcept {
  // With one channel both layouts are the same; kernels take it as nchw.
  return layout == Layout::nhwc && channels > 1 ? Steps{1, channels} : Steps{pixels, 1};
}

}  // namespace

CnnLayerShape cnn_layer_shape(const CnnLayer& p) noexcept {
  const Steps input = steps_of(p.layout, p.input_channels, p.height * p.width);
  const Steps output = steps_of(p.layout, p.output_channels, p.output_height() * p.output_width());
  return {.batch = p.batch,
          .input_channels = p.input_channels,
          .output_channels = p.output_channels,
          .height = p.height,
          .width = p.width,
          .filter_height = p.filter_height,
          .filter_width = p.filter_width,
          .stride = p.stride,
          .padding = p.padding,
          .pool_size = p.pool_size,
          .pool_stride = p.pool_stride,
          .convolved_height = p.convolved_height(),
          .convolved_width = p.convolved_width(),
          .output_height = p.output_height(),
          .output_width = p.output_width(),
          .input_image = p.input_channels * p.height * p.width,
          .input_channel = input.channel,
          .input_pixel = input.pixel,
          .output_image = p.output_channels * p.output_height() * p.output_width(),
          .output_channel = output.channel,
          .output_pixel = output.pixel,
          .has_bias = p.bias ? 1 : 0,
          .relu = p.relu ? 1 : 0};
}

backend::Verdict check_cnn_layer_type(const CnnLayer& problem, const DeviceFacts& facts) {
  if (problem.type == DataType::float64 && !facts.info.has_float64) {
    return backend::Verdict::no("cnn_layer is in float64, but '" + facts.info.name + "' computes in float32 at most");
  }
  return backend::Verdict::yes();
}

ProgramSource cnn_layer_program(std::string name, std::string_view text, const CnnLayer& problem,
                                const std::string& more_options) {
  std::string options =
      "-cl-std=CL1.2 -DFLOAT64=" + std::to_string(problem.type == DataType::float64 ? 1 : 0) + more_options;
  return {std::move(name), std::string(text), std::move(options)};
}

std::vector<MemoryArgument> cnn_layer_operands(const CnnLayer& problem) {
  return {{.place = kCnnInput, .type = problem.type},
          {.place = kCnnWeights, .type = problem.type},
          {.place = kCnnBias, .type = problem.type},
          {.place = kCnnOutput, .type = problem.type}};
}

CnnWeightsForm cnn_weights_form(const CnnLayer& problem) noexcept {
  const CnnLayerShape shape = cnn_layer_shape(problem);
  CnnWeightsForm form;
  form.steps = problem.input_channels * problem.filter_height * problem.filter_width;
  form.padded_steps = form.steps;
  form.channel_step = shape.input_channel;
  form.row_step = problem.width * shape.input_pixel;
  form.pixel_step = shape.input_pixel;
  return form;
}

Preparation prepare_cnn_weights(const CnnLayer& problem, const OpenclDevice& device, const CnnWeightsForm& form) {
  constexpr std::int64_t kNumbersOfStep = 3;
  OperatorLaunch launch;
  launch.kernel = device.kernel(cnn_layer_program("cnn_layer_weights", embedded::cnn_layer_weights, problem));
  launch.range = line_of(*launch.kernel, static_cast<std::uint64_t>(form.elements()));
  launch.memory = {{.place = 0, .type = problem.type}, {.place = kCnnWeights, .type = problem.type}};
  launch.set_structs(cnn_layer_shape(problem), form);
  Preparation preparation;
  preparation.launches.push_back(std::move(launch));
  preparation.size_bytes = static_cast<std::size_t>(form.elements()) * size_bytes(problem.type) +
                           static_cast<std::size_t>(kNumbersOfStep * form.padded_steps) * sizeof(cl_int);
  return preparation;
}

}  // namespace tessera::opencl
