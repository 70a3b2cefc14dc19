// Where the filter lies for a column of the matrix of pixels that cnn_layer's variants implicit_gemm and
// implicit_gemm_split multiply: which pixel of the convolution a column is.
#pragma once

#include "ops/cnn_layer/cnn_layer_gemm_arguments.h"

namespace tessera::cuda {

/// The image, and the pixel under the filter's corner, which may lie outside of it.
struct PixelPlace {
  int image = 0;
  int y = kOutside;
  int x = kOutside;

  template <class T>
  __device__ PixelPlace(const CnnLayerGemmArguments<T>& layer, int column) {
    if (column >= layer.columns) return;
    image = column / layer.image_columns;
    const int in_image = column - image * layer.image_columns;
    const int pooled = layer.pooled ? 1 : 0;
    const int window = pooled != 0 ? in_image / 4 : in_image;
    const int row = window / layer.row_windows;
    y = ((row << pooled) + pooled * (in_image / 2 % 2)) * layer.stride - layer.padding;
    x = (((window - row * layer.row_windows) << pooled) + pooled * (in_image % 2)) * layer.stride - layer.padding;
  }

  /// Is the pixel under row i, column j of the filter one of the image?
  template <class T>
  [[nodiscard]] __device__ __forceinline__ bool has(const CnnLayerGemmArguments<T>& layer, int i, int j) const {
    return static_cast<unsigned>(y + i) < static_cast<unsigned>(layer.height) &&
           static_cast<unsigned>(x + j) < static_cast<unsigned>(layer.width);
  }

 private:
  static constexpr int kOutside = -(1 << 30);  // whatever place of a filter is added
};

}  // namespace tessera::cuda
