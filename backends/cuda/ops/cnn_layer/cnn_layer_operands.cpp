// The steps around cnn_layer's kernels.
#include "ops/cnn_layer/cnn_layer_operands.h"

#include "cuda_embedded.h"

namespace tessera::cuda {
namespace {

using backend::sentence;
using backend::Verdict;

template <class T>
constexpr const char* kTypeName = sizeof(T) == 8 ? "float64" : "float32";

/// Kernels that wait for the one before by themselves: from sm_90 on.
LaunchGrid overlapping(LaunchGrid grid, const DeviceLimits& card) {
  grid.overlaps = card.compute_capability_major >= 9;
  return grid;
}

}  // namespace

LaunchGrid grid_of(const DeviceLimits& card, std::int64_t x, std::int64_t y, std::int64_t z, unsigned threads) {
  const auto groups = [&](std::int64_t wanted, int axis) {
    return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), card.groups[axis]));
  };
  LaunchGrid grid;
  grid.groups = {groups(x, 0), groups(y, 1), groups(z, 2)};
  grid.group_size = {threads, 1, 1};
  return grid;
}

LaunchGrid output_grid(const CnnLayer& problem, const DeviceLimits& card) {
  return grid_of(card, ceil_div(problem.output_height() * problem.output_width(), kCnnLayerThreads),
                 problem.output_channels, problem.batch, kCnnLayerThreads);
}

Verdict check_output_grid(const CnnLayer& problem, const backend::Device& device) {
  const std::uint64_t limit = native(device).context()->limits().groups[0];
  const std::int64_t groups = ceil_div(problem.output_height() * problem.output_width(), kCnnLayerThreads);
  if (static_cast<std::uint64_t>(groups) <= limit) return Verdict::yes();
  return Verdict::no(sentence("an output channel of cnn_layer has ", problem.output_height(), " x ",
                              problem.output_width(), " pixels, which takes ", groups, " groups, but a launch takes ",
                              limit, " at most"));
}

template <class T>
CnnLayerWeights<T>::CnnLayerWeights(const std::shared_ptr<Context>& context, const CnnLayer& problem,
                                    std::int64_t chunk, std::int64_t steps, std::int64_t leading)
    : function_(context, embedded::cnn_layer_weights, sentence("tessera_cnn_layer_weights_", kTypeName<T>),
                overlapping(grid_of(context->limits(), steps, ceil_div(leading, kCnnLayerThreads), 1, kCnnLayerThreads),
                            context->limits())) {
  arguments_.outputs = problem.output_channels;
  arguments_.channels = problem.input_channels;
  arguments_.places = problem.filter_height * problem.filter_width;
  arguments_.chunk = chunk;
  arguments_.steps = steps;
  arguments_.leading = leading;
}

template <class T>
void CnnLayerWeights<T>::prepare(backend::Queue& queue, const backend::Slice& weights,
                                 const backend::Slice& prepared) const {
  CnnLayerWeightsArguments<T> arguments = arguments_;
  arguments.weights = pointer_to<const T>(weights);
  arguments.prepared = pointer_to<T>(prepared);
  function_.enqueue(queue, arguments);
}

template <class T>
CnnLayerPlanes<T>::CnnLayerPlanes(const std::shared_ptr<Context>& context, std::int64_t channels, std::int64_t pixels)
    : card_(*context),
      channels_(channels),
      pixels_(pixels),
      function_(context, embedded::cnn_layer_transpose, sentence("tessera_cnn_layer_transpose_", kTypeName<T>), {}) {}

template <class T>
void CnnLayerPlanes<T>::enqueue(backend::Queue& queue, const T* from, T* to, std::int64_t images) const {
  turn(queue, {from, to, images, pixels_, channels_});
}

template <class T>
void CnnLayerPlanes<T>::enqueue_back(backend::Queue& queue, const T* from, T* to, std::int64_t images) const {
  turn(queue, {from, to, images, channels_, pixels_});
}

template <class T>
void CnnLayerPlanes<T>::turn(backend::Queue& queue, const CnnLayerTransposeArguments<T>& asked) const {
  CnnLayerTransposeArguments<T> arguments = asked;
  const std::int64_t tiles = ceil_div(pixels_, kCnnLayerTransposeTile) * ceil_div(channels_, kCnnLayerTransposeTile);
  LaunchGrid grid =
      overlapping(grid_of(card_.limits(), tiles, arguments.matrices, 1, kCnnLayerTransposeTile), card_.limits());
  grid.group_size[1] = kCnnLayerTransposeRows;
  function_.enqueue(queue, arguments, grid);
}

template <class T>
CnnLayerFinish<T>::CnnLayerFinish(const std::shared_ptr<Context>& context, const CnnLayer& problem)
    : function_(context, embedded::cnn_layer_finish, sentence("tessera_cnn_layer_finish_", kTypeName<T>),
                overlapping(output_grid(problem, context->limits()), context->limits())) {
  arguments_.layer = cnn_layer_arguments<T>(problem);
}

template <class T>
void CnnLayerFinish<T>::enqueue(backend::Queue& queue, const T* parts, std::int64_t splits, const T* bias, T* output,
                                std::int64_t images) const {
  CnnLayerFinishArguments<T> arguments = arguments_;
  CnnLayerArguments<T>& layer = arguments.layer;
  layer.batch = images;
  layer.bias = bias;
  layer.output = output;
  arguments.parts = parts;
  arguments.splits = static_cast<std::int32_t>(splits);
  arguments.split_stride = images * layer.outputs * layer.convolved_height * layer.convolved_width;
  function_.enqueue(queue, arguments);
}

template class CnnLayerWeights<float>;
template class CnnLayerWeights<double>;
template class CnnLayerPlanes<float>;
template class CnnLayerPlanes<double>;
template class CnnLayerFinish<float>;
template class CnnLayerFinish<double>;

}  // namespace tessera::cuda
