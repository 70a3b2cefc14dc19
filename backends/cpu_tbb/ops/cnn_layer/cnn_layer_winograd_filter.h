// Weights for Winograd's algorithm: each filter w becomes G w G^T, in double, and its element (a, b) goes to the panels
// of matrix a * n + b. Some channels go side by side, so that each matrix is written in runs: the matrices lie far
// apart, and runs that prepare raw weights anew wait for these writes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu_tbb_executor.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_panels.h"

namespace tessera::cpu_tbb {

/// Channels side by side: a cache line of floats.
inline constexpr std::int64_t kFiltersAtOnce = 16;

/// Filters of `count` channels from `weights` on, up to kFiltersAtOnce, into as many elements of each matrix.
template <int kOutputs, int kTaps, class T>
void winograd_filters_at_once(const T* weights, std::int64_t count, T* target, std::int64_t matrix_step) {
  constexpr int kSize = kOutputs + kTaps - 1;
  constexpr auto& kFilter = mathematics::kWinogradMatrices<kOutputs, kTaps>.filter;
  double half[kSize][kTaps][kFiltersAtOnce] = {};
  for (int i = 0; i < kTaps; ++i) {
    for (int j = 0; j < kTaps; ++j) {
      double taken[kFiltersAtOnce] = {};
      for (std::int64_t c = 0; c < count; ++c) taken[c] = static_cast<double>(weights[(c * kTaps + i) * kTaps + j]);
      for (int a = 0; a < kSize; ++a) {
        const double factor = kFilter[a][i].value();
        for (std::int64_t c = 0; c < kFiltersAtOnce; ++c) half[a][j][c] += factor * taken[c];
      }
    }
  }
  for (int a = 0; a < kSize; ++a) {
    for (int b = 0; b < kSize; ++b) {
      double sums[kFiltersAtOnce] = {};
      for (int j = 0; j < kTaps; ++j) {
        const double factor = kFilter[b][j].value();
        for (std::int64_t c = 0; c < kFiltersAtOnce; ++c) sums[c] += factor * half[a][j][c];
      }
      T* const run = target + (a * kSize + b) * matrix_step;
      for (std::int64_t c = 0; c < count; ++c) run[c] = static_cast<T>(sums[c]);
    }
  }
}

template <int kOutputs, int kTaps, class T>
void winograd_filters_of(Executor& executor, const T* raw, const PanelLayout<T>& layout, std::int64_t channels,
                         T* prepared) {
  const EqualParts& steps = layout.steps();
  executor.parallel_for(layout.panels().whole, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t output = first; output < last; ++output) {
      for (std::int64_t step = 0; step < steps.parts; ++step) {
        const std::int64_t end = steps.first(step + 1);
        for (std::int64_t channel = steps.first(step); channel < end; channel += kFiltersAtOnce) {
          const T* const weights = raw + (output * channels + channel) * kTaps * kTaps;
          winograd_filters_at_once<kOutputs, kTaps>(weights, std::min(kFiltersAtOnce, end - channel),
                                                    prepared + layout.place(output, channel), layout.size());
        }
      }
    }
  });
}

template <class T>
void winograd_filters(Executor& executor, const T* raw, const PanelLayout<T>& layout, std::int64_t outputs,
                      std::int64_t taps, std::int64_t channels, T* prepared) {
  if (taps == 3) return winograd_filters_of<4, 3>(executor, raw, layout, channels, prepared);
  if (outputs == 4) return winograd_filters_of<4, 5>(executor, raw, layout, channels, prepared);
  winograd_filters_of<2, 5>(executor, raw, layout, channels, prepared);
}

}  // namespace tessera::cpu_tbb
