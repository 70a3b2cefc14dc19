// A conv2d case on one device with one kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "conformance/conv2d/conv2d_reference.h"
#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"

namespace tessera::conformance {

/// The images of a case, one behind the other, and what they must give. The reference looks at the images here, so an
/// object of this type stays where it was made.
template <class T>
struct Conv2dData {
  Conv2dData() = default;
  Conv2dData(const Conv2dData&) = delete;
  Conv2dData& operator=(const Conv2dData&) = delete;

  std::vector<T> images;
  std::unique_ptr<const Conv2dReference<T>> reference;
};

template <class T>
class Conv2dRun final : public KernelRun<Conv2d> {
 public:
  using Output = typename Conv2dInputs<T>::Output;

  Conv2dRun(const Device& device, OperatorKernel<Conv2d> kernel, std::shared_ptr<const Conv2dData<T>> data,
            std::size_t misalignment);
  /// The same on other memory.
  Conv2dRun(const Device& device, const Conv2dRun& like);

  void reset(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  std::shared_ptr<const Conv2dData<T>> data_;
  GuardedBuffer<T> images_;
  GuardedBuffer<Output> outputs_;
  bool images_are_there_ = false;
};

extern template class Conv2dRun<std::uint8_t>;
extern template class Conv2dRun<std::int16_t>;
extern template class Conv2dRun<std::int32_t>;
extern template class Conv2dRun<float>;

}  // namespace tessera::conformance
