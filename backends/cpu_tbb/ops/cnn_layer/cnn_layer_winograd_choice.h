// When the variant "winograd" is worth its transforms, and with which tile: numbers that were measured.
#pragma once

#include <vector>

#include "backend/operator_table.h"

namespace tessera::cpu_tbb {

/// Of a layer that "winograd" takes: yes where the preferred tile saves enough, and threads have enough to do.
/// implicit_gemm's time over winograd's on a Xeon, 3 x 3 filters, 1 to 4 images, on 1 and 2 cores / on 16: 16 channels
/// at 56 x 56 0.8 to 1.2 / 0.5 to 1.0; 32 channels 1.1 to 2.2 / 0.7 to 1.2, the less the smaller; 64 channels 1.1 to
/// 1.7 / 0.9 to 1.4; 128 at 28 x 28 1.7 to 2.4 / 1.6 to 1.9; 512 at 7 x 7, where 4 tiles are computed as 16, 0.8 to 0.9
/// on 16.
[[nodiscard]] backend::Verdict cnn_layer_winograd_pays(const CnnLayer& p, int threads);
/// The same for the threads that the device has.
[[nodiscard]] backend::Verdict cnn_layer_winograd_pays_on(const CnnLayer& p, const backend::Device& device);

[[nodiscard]] std::vector<Tunable> cnn_layer_winograd_tunables(const CnnLayer& problem, const backend::Device& device);

}  // namespace tessera::cpu_tbb
