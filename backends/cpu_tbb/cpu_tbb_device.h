// The two devices: the same processor, its loops spread by oneTBB (cpu:0) or by a static partition (cpu:1).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "cpu_tbb_buffer.h"
#include "cpu_tbb_executor.h"
#include "cpu_tbb_machine.h"

namespace tessera::cpu_tbb {

/// In the order of the devices' indices.
enum class ExecutorKind : std::uint8_t { tbb, static_partition };
inline constexpr std::size_t kDeviceCount = 2;

/// The most threads that a device may be asked for.
inline constexpr int kMaxThreads = 1024;

/// The facts of one device that runs on at most `threads` threads.
[[nodiscard]] DeviceInfo describe_device(const Machine& machine, const MemoryBudget& budget, ExecutorKind kind,
                                         int threads);

class CpuTbbDevice final : public backend::Device {
 public:
  /// Starts the executor's threads. Error unavailable if the system does not give them.
  CpuTbbDevice(const Machine& machine, std::shared_ptr<MemoryBudget> budget, ExecutorKind kind, int threads);

  [[nodiscard]] DeviceInfo info() const override;
  [[nodiscard]] std::unique_ptr<backend::Buffer> allocate(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::PinnedMemory> allocate_pinned(std::size_t size_bytes) override;
  [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override;
  [[nodiscard]] std::unique_ptr<backend::OwnKernel> compile(const KernelSource& source) override;
  [[nodiscard]] std::string memory_name() const override { return "host"; }
  [[nodiscard]] std::uint64_t held_bytes() const override { return executor_->scratch().held_bytes(); }
  std::uint64_t trim() noexcept override { return executor_->scratch().trim(); }
  void set_reclaim(std::function<bool()> reclaim) override { executor_->scratch().set_reclaim(std::move(reclaim)); }
  [[nodiscard]] Team team() const noexcept { return executor_->team(); }

 private:
  const Machine machine_;
  const std::shared_ptr<MemoryBudget> budget_;
  const ExecutorKind kind_;
  const std::shared_ptr<Executor> executor_;  // shared with the queues
};

/// The device behind the seam's, for an operator's pays() and make().
[[nodiscard]] inline const CpuTbbDevice& native(const backend::Device& device) noexcept {
  return static_cast<const CpuTbbDevice&>(device);
}

}  // namespace tessera::cpu_tbb
