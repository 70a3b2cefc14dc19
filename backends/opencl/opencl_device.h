// An opened device: makes memory, queues and kernels on it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.h"
#include "opencl_context.h"
#include "opencl_program.h"

namespace tessera::opencl {

class CompiledKernel;

class OpenclDevice final : public backend::Device {
 public:
  OpenclDevice(const OpenclApi& api, const DeviceFacts& facts);

  [[nodiscard]] DeviceInfo info() const override { return facts().info; }
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::PinnedMemory> allocate_pinned(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override;
  [[nodiscard]] std::unique_ptr<backend::OwnKernel> compile(const KernelSource& source) override;

  [[nodiscard]] std::string memory_name() const override;

  [[nodiscard]] const DeviceFacts& facts() const noexcept { return context_->facts(); }
  [[nodiscard]] const std::shared_ptr<OpenclContext>& context() const noexcept { return context_; }
  /// The compiler. Not const in effect: asking it may fill its caches.
  [[nodiscard]] OpenclPrograms& programs() const noexcept { return *programs_; }
  /// For operators: the kernel function that bears its program's name; the program is compiled once.
  [[nodiscard]] std::unique_ptr<CompiledKernel> kernel(const ProgramSource& source) const;
  /// Hopper's products by warp groups: the device has them, and its driver compiles a program with them. The first one
  /// who asks of such a device waits for that.
  [[nodiscard]] bool has_warp_groups() const;

 private:
  std::shared_ptr<OpenclContext> context_;
  std::unique_ptr<OpenclPrograms> programs_;
  mutable std::once_flag asked_for_warp_groups_;
  mutable bool has_warp_groups_ = false;
};

/// The device behind the seam's, for an operator's check() and make().
[[nodiscard]] inline const OpenclDevice& native(const backend::Device& device) noexcept {
  return static_cast<const OpenclDevice&>(device);
}

}  // namespace tessera::opencl
