// cnn_layer, winograd: the transforms in one direction, in registers. Coefficients are known to the compiler, so that
// those that are 0 or 1 cost nothing, and of a pair of rows that differ in signs alone the half sums are shared.
#pragma once

#include "mathematics/cnn_layer_winograd.h"

namespace tessera::cuda {

/// Tiles of kY x kX outputs and filters of kFilter x kFilter weights.
template <int kY, int kX, int kFilter>
struct WinogradForm {
  static constexpr int kOutputsY = kY, kOutputsX = kX, kTaps = kFilter;
  /// Of a patch, whose pixels become as many points.
  static constexpr int kPointsY = kY + kFilter - 1, kPointsX = kX + kFilter - 1;
  static constexpr int kOutputs = kY * kX, kPoints = kPointsY * kPointsX;
};

/// The matrices as numbers that device code may use, and which rows come in pairs: two half sums give both of a pair.
template <int kOutputs, int kFilter>
struct WinogradNumbers {
  static constexpr int kPoints = kOutputs + kFilter - 1;
  double input[kPoints][kPoints] = {};
  double weights[kPoints][kFilter] = {};
  double output[kOutputs][kPoints] = {};
  double growth[kOutputs][kPoints] = {};  ///< of roundings, from a pixel to an output
  bool input_pair[kPoints] = {};          ///< input rows i and i + 1 differ in the sign of odd columns
  bool output_pair[kPoints] = {};         ///< output columns i and i + 1 differ in the sign of odd rows

  constexpr WinogradNumbers() {
    const auto& exact = mathematics::kWinogradMatrices<kOutputs, kFilter>;
    for (int i = 0; i < kPoints; ++i) {
      for (int j = 0; j < kPoints; ++j) input[i][j] = exact.input[i][j].value();
      for (int j = 0; j < kFilter; ++j) weights[i][j] = exact.filter[i][j].value();
      for (int k = 0; k < kOutputs; ++k) output[k][i] = exact.output[k][i].value();
    }
    const auto grown = exact.growth();
    for (int k = 0; k < kOutputs; ++k) {
      for (int i = 0; i < kPoints; ++i) growth[k][i] = grown[k][i].value();
    }
    for (int i = 1; i + 2 < kPoints; i += 2) {
      input_pair[i] = output_pair[i] = true;
      for (int j = 0; j < kPoints; ++j) {
        if (input[i + 1][j] != (j % 2 == 0 ? 1 : -1) * input[i][j]) input_pair[i] = false;
      }
      for (int k = 0; k < kOutputs; ++k) {
        if (output[k][i + 1] != (k % 2 == 0 ? 1 : -1) * output[k][i]) output_pair[i] = false;
      }
    }
  }
};
template <int kOutputs, int kFilter>
inline constexpr WinogradNumbers<kOutputs, kFilter> kWinogradNumbers{};

/// A sum of multiples, without an instruction for what a coefficient spares. Coefficients are known to the compiler.
struct MultipleSum {
  float value = 0;
  bool is_empty = true;

  __device__ __forceinline__ void add(double coefficient, float number) {
    if (coefficient == 0) return;
    const auto factor = static_cast<float>(coefficient);
    if (is_empty) {
      value = coefficient == 1 ? number : factor * number;
    } else {
      value = coefficient == 1 ? value + number : coefficient == -1 ? value - number : fmaf(factor, number, value);
    }
    is_empty = false;
  }
};

/// value[i] = sum over j of input[i][j] * value[j], with elements kStep apart.
template <int kOutputs, int kFilter, int kStep>
__device__ __forceinline__ void transform_pixels(float* value) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr auto kNumbers = kWinogradNumbers<kOutputs, kFilter>;
  float result[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    if (i > 0 && kNumbers.input_pair[i - 1]) continue;
    MultipleSum even;
    MultipleSum odd;
#pragma unroll
    for (int j = 0; j < n; ++j) (j % 2 == 0 ? even : odd).add(kNumbers.input[i][j], value[j * kStep]);
    result[i] = odd.is_empty ? even.value : even.is_empty ? odd.value : even.value + odd.value;
    if (kNumbers.input_pair[i]) result[i + 1] = even.value - odd.value;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) value[i * kStep] = result[i];
}

/// to[k] = sum over i of output[k][i] * from[i].
template <int kOutputs, int kFilter, int kToStep>
__device__ __forceinline__ void transform_products(const float* from, float* to) {
  constexpr int n = kOutputs + kFilter - 1;
  constexpr auto kNumbers = kWinogradNumbers<kOutputs, kFilter>;
#pragma unroll
  for (int k = 0; k < kOutputs; ++k) {
    MultipleSum sum;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (i > 0 && kNumbers.output_pair[i - 1]) continue;
      const float both = !kNumbers.output_pair[i] ? from[i]
                         : k % 2 == 0             ? from[i] + from[i + 1]
                                                  : from[i] - from[i + 1];
      sum.add(kNumbers.output[k][i], both);
    }
    to[k * kToStep] = sum.value;
  }
}

}  // namespace tessera::cuda
