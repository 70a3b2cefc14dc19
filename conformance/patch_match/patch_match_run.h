// A patch_match case on one device with one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"
#include "conformance/patch_match/patch_match_reference.h"

namespace tessera::conformance {

/// The volume of a case and what it must give.
template <class T>
struct PatchData {
  std::vector<T> volume;
  std::unique_ptr<const PatchReference<T>> reference;
};

template <class T>
class PatchRun final : public KernelRun<PatchMatch> {
 public:
  PatchRun(const Device& device, OperatorKernel<PatchMatch> kernel, std::shared_ptr<const PatchData<T>> data,
           std::size_t misalignment);
  /// The same on other memory.
  PatchRun(const Device& device, const PatchRun& like);

  void reset(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  std::shared_ptr<const PatchData<T>> data_;
  GuardedBuffer<T> volume_;
  GuardedBuffer<std::int32_t> counts_;
  GuardedBuffer<PatchDistance<T>> distances_;
  GuardedBuffer<std::int64_t> indices_;
  bool volume_is_there_ = false;
};

extern template class PatchRun<std::uint8_t>;
extern template class PatchRun<std::uint16_t>;
extern template class PatchRun<float>;

}  // namespace tessera::conformance
