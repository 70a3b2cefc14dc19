// The device's part of classifying: a training set that lies there prepared, and batches of images that are judged.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/tessera.h>

#include "tools/classify/numbers.h"

namespace tessera::tool {

/// Seconds of the host's clock; each stage waits for the device before the next begins.
struct DeviceTimes {
  double compile_s = 0;
  double upload_training_s = 0;  ///< a transfer
  double prepare_s = 0;
  double upload_images_s = 0;  ///< a transfer
  double compute_s = 0;
  double download_s = 0;  ///< a transfer
};

/// What is found out about an image.
struct Judgement {
  double value = 0;                          ///< the regression's; NaN if no training image is near at all
  std::optional<std::int64_t> rounded = {};  ///< the value as a whole number, halves up: the study's answer
  std::optional<std::int64_t> voted = {};    ///< the label with the most weight, the smaller of two that are equal
  /// The answer's share of all weight less the largest share of another label: 1 is certain, 0 undecided, and below 0
  /// the rounding says what the weight does not. -1 without an answer.
  double rounded_margin = -1;
  double voted_margin = -1;
  double neighbours = 0;  ///< how many training images count, (sum of w)^2 / sum of w^2
  std::int64_t nearest_row = -1;
  double nearest_distance = 0;  ///< Euclidean, scaled
};

class RegressionClassifier {
 public:
  /// The smallest and the largest label may be so far apart.
  static constexpr std::int64_t kMostClasses = 1024;

  /// Of `problem` it takes order, scale and distance; sizes and type follow from the training set, and it judges
  /// `batch` images at once. Error invalid_argument for labels that are too far apart; UsageError for an order, a
  /// scale, a variant or a tuning value that cannot be; other errors as the library's.
  RegressionClassifier(const Device& device, KernelRegression problem, const KernelOptions& options, Numbers training,
                       const std::vector<std::int64_t>& labels, std::int64_t batch, DeviceTimes& times);

  [[nodiscard]] const KernelInfo& info() const { return kernel_.info(); }
  /// Judges `count` images, at most a batch: their rows, of the type of the training set.
  [[nodiscard]] std::vector<Judgement> judge(Numbers images, std::int64_t count);

 private:
  template <class Body>
  void timed(double& seconds, const Body& body);
  [[nodiscard]] std::vector<double> download(const UntypedView& view);
  [[nodiscard]] Judgement judged(double value, const double* votes) const;

  DeviceTimes& times_;
  std::int64_t smallest_label_ = 0;
  KernelRegression problem_;
  OperatorKernel<KernelRegression> kernel_;
  Queue queue_;
  PreparedWeights training_;
  UntypedView targets_;
  UntypedView queries_;
  UntypedView values_;
  UntypedView votes_;
  UntypedView nearest_row_;
  UntypedView nearest_squared_;
  UntypedView neighbours_;
};

}  // namespace tessera::tool
