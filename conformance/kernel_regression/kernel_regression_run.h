// A kernel_regression case on one device with one kernel, its training set prepared or raw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/kernel_regression/kernel_regression_reference.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

/// The operands of a case and what they must give. The reference looks at the operands here, so an object of this type
/// stays where it was made.
template <class T>
struct RegressionData {
  RegressionData() = default;
  RegressionData(const RegressionData&) = delete;
  RegressionData& operator=(const RegressionData&) = delete;

  std::vector<T> queries;
  std::vector<T> training;
  std::vector<RegressionResult<T>> targets;
  std::unique_ptr<const RegressionReference<T>> reference;
};

template <class T>
class RegressionRun final : public KernelRun<KernelRegression> {
 public:
  RegressionRun(const Device& device, OperatorKernel<KernelRegression> kernel,
                std::shared_ptr<const RegressionData<T>> data, std::size_t misalignment, bool is_prepared);
  /// The same on other memory.
  RegressionRun(const Device& device, const RegressionRun& like);

  void reset(Queue& queue) override;
  void make_ready(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  using Result = RegressionResult<T>;

  void kernel_changed() override { prepared_ = {}; }

  std::shared_ptr<const RegressionData<T>> data_;
  GuardedBuffer<T> queries_;
  GuardedBuffer<T> training_;
  GuardedBuffer<Result> targets_;
  GuardedBuffer<Result> values_;
  GuardedBuffer<Result> votes_;
  GuardedBuffer<std::int64_t> nearest_row_;
  GuardedBuffer<RegressionSquared<T>> nearest_squared_;
  GuardedBuffer<Result> neighbours_;
  bool is_prepared_;
  PreparedWeights prepared_;  // of the kernel as it is; empty at first and after the kernel was changed
  bool inputs_are_there_ = false;
};

extern template class RegressionRun<float>;
extern template class RegressionRun<double>;
extern template class RegressionRun<std::uint8_t>;

}  // namespace tessera::conformance
