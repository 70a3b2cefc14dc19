// Weights for Winograd's algorithm: each filter w becomes G w G^T, in double, and its element (a, b) goes to the panels
// of matrix a * n + b. Done once when weights are prepared, so it is written plainly.
#pragma once

#include <cstdint>

#include "cpu_tbb_executor.h"
#include "mathematics/cnn_layer_winograd.h"
#include "ops/cnn_layer/cnn_layer_panels.h"

namespace tessera::cpu_tbb {

template <int kOutputs, int kTaps, class T>
void winograd_filters_of(Executor& executor, const T* raw, const PanelLayout<T>& layout, std::int64_t channels,
                         T* prepared) {
  constexpr int kSize = kOutputs + kTaps - 1;
  executor.parallel_for(layout.panels().whole, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t output = first; output < last; ++output) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const T* const weights = raw + (output * channels + channel) * kTaps * kTaps;
        T* const target = prepared + layout.place(output, channel);
        double half[kSize][kTaps];
        for (int a = 0; a < kSize; ++a) {
          for (int j = 0; j < kTaps; ++j) {
            half[a][j] = 0;
            for (int i = 0; i < kTaps; ++i)
              half[a][j] += mathematics::kWinogradMatrices<kOutputs, kTaps>.filter[a][i].value() *
                            static_cast<double>(weights[i * kTaps + j]);
          }
        }
        for (int a = 0; a < kSize; ++a) {
          for (int b = 0; b < kSize; ++b) {
            double sum = 0;
            for (int j = 0; j < kTaps; ++j)
              sum += mathematics::kWinogradMatrices<kOutputs, kTaps>.filter[b][j].value() * half[a][j];
            target[(a * kSize + b) * layout.size()] = static_cast<T>(sum);
          }
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
