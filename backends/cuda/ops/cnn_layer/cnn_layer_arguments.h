// What the plain kernels of cnn_layer take, by value; read by host and device.
#pragma once

#include <cstdint>

namespace tessera::cuda {

/// Where the elements of images lie.
struct CnnLayerStrides {
  std::int64_t image;
  std::int64_t channel;
  std::int64_t pixel;  ///< a row is as many pixels as it is wide
};

/// A layer in elements of T; see tessera/ops/cnn_layer.h.
template <class T>
struct CnnLayerArguments {
  const T* input;
  const T* weights;
  const T* bias;  ///< null: none
  T* output;
  std::int64_t batch;
  std::int64_t channels;
  std::int64_t outputs;  ///< channels
  std::int64_t height;
  std::int64_t width;
  std::int64_t filter_height;
  std::int64_t filter_width;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t convolved_height;
  std::int64_t convolved_width;
  std::int64_t output_height;
  std::int64_t output_width;
  std::int64_t pool_size;  ///< 1: none
  std::int64_t pool_stride;
  CnnLayerStrides input_strides;
  CnnLayerStrides output_strides;
  bool relu;
};

/// Sums of the convolution as planes, to be finished, in `splits` parts to be added up, `split_stride` elements apart.
template <class T>
struct CnnLayerFinishArguments {
  CnnLayerArguments<T> layer;  ///< of which input and weights are not used
  const T* parts;
  std::int64_t split_stride;
  std::int32_t splits;
};

/// Weights (outputs x channels x places of the filter) as a matrix with a row for each step and a column for each
/// output channel. Step k is channel k % chunk of the chunk (k / chunk) / places, at place (k / chunk) % places; rows
/// and columns beyond the weights are 0.
template <class T>
struct CnnLayerWeightsArguments {
  const T* weights;
  T* prepared;
  std::int64_t outputs;
  std::int64_t channels;
  std::int64_t places;
  std::int64_t chunk;
  std::int64_t steps;
  std::int64_t leading;  ///< columns, at least the outputs
};

/// Matrices of rows x columns, one after the other, of which each is turned into columns x rows.
template <class T>
struct CnnLayerTransposeArguments {
  const T* from;
  T* to;
  std::int64_t matrices;
  std::int64_t rows;
  std::int64_t columns;
};

/// Pixels of a group of the kernels naive and finish; output channels of one of the kernel that prepares weights.
inline constexpr int kCnnLayerThreads = 256;
/// Rows and columns of a tile that a group of the transpose turns, and rows that it moves at once.
inline constexpr int kCnnLayerTransposeTile = 32;
inline constexpr int kCnnLayerTransposeRows = 8;

}  // namespace tessera::cuda
