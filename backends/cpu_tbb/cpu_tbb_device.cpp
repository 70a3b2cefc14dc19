// Facts about a device, and the making of what belongs to it.
#include "cpu_tbb_device.h"

#include <oneapi/tbb/version.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cpu_tbb_error.h"
#include "cpu_tbb_instruction_set.h"
#include "cpu_tbb_own_kernel.h"
#include "cpu_tbb_queue.h"

namespace tessera::cpu_tbb {

namespace {

/// "NPTL 2.36": what the C library says of its threads.
std::string posix_threads_version() {
  char text[64] = "";
  const std::size_t length = confstr(_CS_GNU_LIBPTHREAD_VERSION, text, sizeof(text));
  return length > 0 && length <= sizeof(text) ? text : "";
}

std::uint64_t memory_free_bytes(const MemoryBudget& budget) {
  const std::uint64_t available = memory_available_bytes();
  return available == 0 ? budget.left_bytes() : std::min(available, budget.left_bytes());
}

std::shared_ptr<Executor> make_executor(ExecutorKind kind, std::shared_ptr<ScratchPool> scratch, int threads) {
  return kind == ExecutorKind::tbb ? make_tbb_executor(std::move(scratch), threads)
                                   : make_static_executor(std::move(scratch), threads);
}

}  // namespace

DeviceInfo describe_device(const Machine& machine, const MemoryBudget& budget, ExecutorKind kind, int threads) {
  DeviceInfo info;
  info.name = machine.cpu_name;
  info.vendor = machine.cpu_vendor;
  if (kind == ExecutorKind::tbb) {
    info.driver = "oneTBB";
    info.driver_version = TBB_runtime_version();
    info.api_version = "oneTBB interface " + std::to_string(TBB_runtime_interface_version());
  } else {
    info.driver = "POSIX threads";
    info.driver_version = posix_threads_version();
    info.api_version = "POSIX " + std::to_string(_POSIX_VERSION);
  }
  info.kind = DeviceKind::cpu;
  info.memory_total_bytes = budget.limit_bytes();
  info.memory_free_bytes = memory_free_bytes(budget);
  info.cache_bytes = machine.cache_bytes;
  info.compute_units = static_cast<std::uint32_t>(threads);
  info.max_group_size = kMaxGroupSize;
  info.max_group_extent = {kMaxGroupSize, kMaxGroupSize, kMaxGroupSize};
  info.local_memory_bytes = kLocalMemoryBytes;
  info.max_allocation_bytes = budget.limit_bytes();
  info.has_float64 = true;
  info.has_float16 = false;
  info.unified_memory = true;
  info.timer_resolution_s = machine.timer_resolution_s;
  info.instruction_set = instruction_set();
  return info;
}

CpuTbbDevice::CpuTbbDevice(const Machine& machine, std::shared_ptr<MemoryBudget> budget, ExecutorKind kind, int threads)
    : machine_(machine),
      budget_(std::move(budget)),
      kind_(kind),
      executor_(make_executor(kind, std::make_shared<ScratchPool>(budget_), threads)) {}

DeviceInfo CpuTbbDevice::info() const {
  return describe_device(machine_, *budget_, kind_, executor_->threads());
}

std::unique_ptr<backend::Buffer> CpuTbbDevice::allocate(std::size_t size_bytes) {
  return or_no_memory([&] { return std::make_unique<CpuTbbBuffer>(budget_, size_bytes); });
}

std::unique_ptr<backend::PinnedMemory> CpuTbbDevice::allocate_pinned(std::size_t size_bytes) {
  return or_no_memory([&] { return std::make_unique<CpuTbbPinnedMemory>(budget_, size_bytes); });
}

std::unique_ptr<backend::Queue> CpuTbbDevice::make_queue() {
  return or_no_memory([&] { return std::make_unique<CpuTbbQueue>(executor_); });
}

std::unique_ptr<backend::OwnKernel> CpuTbbDevice::compile(const KernelSource& source) {
  return or_no_memory([&] { return std::make_unique<CpuTbbOwnKernel>(source); });
}

}  // namespace tessera::cpu_tbb
