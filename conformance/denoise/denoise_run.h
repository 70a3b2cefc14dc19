// A denoise case on one device with one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "conformance/denoise/denoise_reference.h"
#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

/// The volumes of a case and what they must give.
template <class T>
struct DenoiseData {
  std::vector<T> volume;
  std::vector<T> basic;  ///< empty but for the stage wiener
  std::unique_ptr<const DenoiseReference<T>> reference;
};

template <class T>
class DenoiseRun final : public KernelRun<Denoise> {
 public:
  DenoiseRun(const Device& device, OperatorKernel<Denoise> kernel, std::shared_ptr<const DenoiseData<T>> data,
             std::size_t misalignment);
  /// The same on other memory.
  DenoiseRun(const Device& device, const DenoiseRun& like);

  void reset(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  std::shared_ptr<const DenoiseData<T>> data_;
  GuardedBuffer<T> volume_;
  GuardedBuffer<T> basic_;
  GuardedBuffer<T> result_;
  bool inputs_are_there_ = false;
};

extern template class DenoiseRun<std::uint8_t>;
extern template class DenoiseRun<std::uint16_t>;
extern template class DenoiseRun<float>;

}  // namespace tessera::conformance
