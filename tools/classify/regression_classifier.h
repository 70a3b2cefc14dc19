// The device's part of classifying: a training set that lies there prepared, and batches of images that are judged.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/tessera.h>

#include "tools/classify/judgement.h"
#include "tools/classify/numbers.h"
#include "tools/classify/regression_problem.h"

namespace tessera::tool {

class RegressionClassifier {
 public:
  /// `kernel` is of the problem that regression_of() makes, whose queries are a batch.
  RegressionClassifier(const Device& device, OperatorKernel<KernelRegression> kernel, Numbers training,
                       const std::vector<std::int64_t>& labels, DeviceTimes& times);

  /// Judges `count` images, at most a batch: their rows, of the type of the training set.
  [[nodiscard]] std::vector<Judgement> judge(Numbers images, std::int64_t count);

 private:
  template <class Body>
  void timed(double& seconds, const Body& body);
  [[nodiscard]] std::vector<double> download(const UntypedView& view);

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
