// A nonlocal_means case on one device with one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/kernel_run.h"
#include "conformance/nonlocal_means/nonlocal_means_oracle.h"

namespace tessera::conformance {

/// A volume and what it must give: every voxel, or of volumes that are too large for the oracle those at both ends and
/// others between them.
template <class T>
class MeansReference {
 public:
  MeansReference(const NonlocalMeans& problem, std::vector<T> volume);

  [[nodiscard]] const std::vector<T>& volume() const noexcept { return volume_; }
  /// No bound: every bit counts.
  void check(std::span<const T> result, Comparison& comparison) const;

 private:
  struct Voxel {
    std::size_t index;
    T expected;
  };

  std::vector<T> volume_;
  std::vector<Voxel> voxels_;
};

template <class T>
class MeansRun final : public KernelRun<NonlocalMeans> {
 public:
  MeansRun(const Device& device, OperatorKernel<NonlocalMeans> kernel,
           std::shared_ptr<const MeansReference<T>> reference, std::size_t misalignment);
  /// The same on other memory.
  MeansRun(const Device& device, const MeansRun& like);

  void reset(Queue& queue) override;
  void enqueue(Queue& queue) override;
  [[nodiscard]] Outcome check(Queue& queue) override;
  [[nodiscard]] std::vector<std::byte> output_bits(Queue& queue) override;
  [[nodiscard]] std::unique_ptr<Run> twin(const Device& device) const override;
  [[nodiscard]] HostCopies host_copies(const Device& device, HostMemory memory) const override;

 private:
  std::shared_ptr<const MeansReference<T>> reference_;
  GuardedBuffer<T> volume_;
  GuardedBuffer<T> result_;
  bool is_volume_there_ = false;
};

extern template class MeansReference<std::uint8_t>;
extern template class MeansReference<std::uint16_t>;
extern template class MeansReference<float>;
extern template class MeansRun<std::uint8_t>;
extern template class MeansRun<std::uint16_t>;
extern template class MeansRun<float>;

}  // namespace tessera::conformance
