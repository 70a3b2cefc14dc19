// The regression that classifies: its sizes and targets from a labelled training set.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/tessera.h>

#include "tools/classify/numbers.h"

namespace tessera::tool {

/// Seconds of the host's clock; each stage waits for the device before the next begins. In slabs of the device's clock,
/// and the stages go beside each other.
struct DeviceTimes {
  double compile_s = 0;
  double upload_training_s = 0;  ///< a transfer; in slabs of images too
  double prepare_s = 0;
  double upload_images_s = 0;  ///< a transfer
  double compute_s = 0;
  double download_s = 0;  ///< a transfer
  double stream_s = 0;    ///< in slabs: all of the above but the first, by the host's clock
};

/// The smallest and the largest label may be so far apart.
inline constexpr std::int64_t kMostClasses = 1024;

/// Of `problem` it takes order, scale and distance; sizes and type follow from the training set. Targets are labels
/// less the smallest one. Error invalid_argument for labels that are too far apart.
[[nodiscard]] KernelRegression regression_of(KernelRegression problem, const Numbers& training,
                                             const std::vector<std::int64_t>& labels, std::int64_t queries);

/// UsageError for an order, a scale, a variant or a tuning value that cannot be; other errors as the library's.
[[nodiscard]] OperatorKernel<KernelRegression> regression_kernel(const Device& device, const KernelRegression& problem,
                                                                 const KernelOptions& options, double& seconds);

template <class T>
[[nodiscard]] std::vector<T> targets_of(const std::vector<std::int64_t>& labels, std::int64_t smallest) {
  std::vector<T> targets;
  targets.reserve(labels.size());
  for (const std::int64_t label : labels) targets.push_back(static_cast<T>(label - smallest));
  return targets;
}

}  // namespace tessera::tool
