// One opened card: its facts, and the maker of its memory, queues and own kernels.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "cuda_context.h"

namespace tessera::cuda {

/// Everything that can be told without opening the card; memory_free_bytes is 0.
[[nodiscard]] DeviceInfo info_of(CUdevice device);

class CudaDevice final : public backend::Device {
 public:
  /// Error unsupported if the embedded kernels hold nothing that this card runs.
  explicit CudaDevice(CUdevice device);

  [[nodiscard]] DeviceInfo info() const override;
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::PinnedMemory> allocate_pinned(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override;
  [[nodiscard]] std::unique_ptr<backend::OwnKernel> compile(const KernelSource& source) override;

  [[nodiscard]] std::string memory_name() const override { return "pci " + info_.pci_address; }
  /// What vendors' libraries hold. Kernels tell for themselves what they hold.
  [[nodiscard]] std::uint64_t held_bytes() const override { return context_->held_bytes(); }
  std::uint64_t trim() noexcept override { return context_->trim(); }

  /// Shared by everything made on the device.
  [[nodiscard]] const std::shared_ptr<Context>& context() const noexcept { return context_; }

 private:
  std::shared_ptr<Context> context_;
  DeviceInfo info_;
};

/// The device behind the seam's.
[[nodiscard]] inline CudaDevice& native(backend::Device& device) noexcept {
  return static_cast<CudaDevice&>(device);
}
[[nodiscard]] inline const CudaDevice& native(const backend::Device& device) noexcept {
  return static_cast<const CudaDevice&>(device);
}

}  // namespace tessera::cuda
