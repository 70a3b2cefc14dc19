// A cnn_layer case on one device with one kernel, its weights prepared or raw.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "conformance/cnn_layer/cnn_layer_reference.h"
#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

/// The operands of a case and what they must give. The reference looks at the operands here, so an object of this type
/// stays where it was made.
template <class T>
struct CnnLayerData {
  CnnLayerData() = default;
  CnnLayerData(const CnnLayerData&) = delete;
  CnnLayerData& operator=(const CnnLayerData&) = delete;

  std::vector<T> input;
  std::vector<T> weights;
  std::vector<T> bias;
  std::unique_ptr<const CnnLayerReference<T>> reference;
};

template <class T>
class CnnLayerRun final : public KernelRun<CnnLayer> {
 public:
  CnnLayerRun(const Device& device, OperatorKernel<CnnLayer> kernel, std::shared_ptr<const CnnLayerData<T>> data,
              std::size_t misalignment, bool is_prepared);
  /// The same on other memory.
  CnnLayerRun(const Device& device, const CnnLayerRun& like);

  void reset(Queue& queue) override;
  void make_ready(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  void kernel_changed() override { prepared_ = {}; }

  std::shared_ptr<const CnnLayerData<T>> data_;
  GuardedBuffer<T> input_;
  GuardedBuffer<T> weights_;
  GuardedBuffer<T> bias_;
  GuardedBuffer<T> output_;
  bool is_prepared_;
  PreparedWeights prepared_;  // of the kernel as it is; empty at first and after the kernel was changed
  bool inputs_are_there_ = false;
};

extern template class CnnLayerRun<float>;
extern template class CnnLayerRun<double>;

}  // namespace tessera::conformance
