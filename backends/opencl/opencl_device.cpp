// Opens a device and makes what lives on it.
#include "opencl_device.h"

#include "backend/sentence.h"
#include "opencl_buffer.h"
#include "opencl_embedded.h"
#include "opencl_kernel.h"
#include "opencl_own_kernel.h"
#include "opencl_queue.h"

namespace tessera::opencl {

OpenclDevice::OpenclDevice(const OpenclApi& api, const DeviceFacts& facts)
    : context_(std::make_shared<OpenclContext>(api, facts)), programs_(std::make_unique<OpenclPrograms>(context_)) {}

std::unique_ptr<backend::Buffer> OpenclDevice::allocate(std::size_t size_bytes) {
  return std::make_unique<OpenclBuffer>(context_, size_bytes);
}

std::unique_ptr<backend::PinnedMemory> OpenclDevice::allocate_pinned(std::size_t size_bytes) {
  return std::make_unique<OpenclPinnedMemory>(context_, size_bytes);
}

std::unique_ptr<backend::Queue> OpenclDevice::make_queue() {
  return std::make_unique<OpenclQueue>(context_);
}

std::string OpenclDevice::memory_name() const {
  const DeviceInfo& info = facts().info;
  if (info.kind == DeviceKind::cpu) return "host";
  if (!info.pci_address.empty()) return "pci " + info.pci_address;
  // The driver does not say where the card is: then it shares its memory with other openings of it alone.
  return backend::sentence("opencl device ", static_cast<const void*>(facts().device));
}

std::unique_ptr<CompiledKernel> OpenclDevice::kernel(const ProgramSource& source) const {
  return std::make_unique<CompiledKernel>(context_, programs_->build_once(source).get(), source.name);
}

bool OpenclDevice::has_warp_groups() const {
  if (!facts().is_hopper) return false;
  std::call_once(asked_for_warp_groups_, [this] {
    try {
      (void)kernel({.name = "nvidia_warpgroup_trial",
                    .text = std::string(embedded::nvidia_warpgroup_trial),
                    .options = "-cl-std=CL1.2 -DSTAGES=7",
                    .is_for_sm_90a = true});
      has_warp_groups_ = true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::build_failed) throw;  // asked again next time
    }
  });
  return has_warp_groups_;
}

std::unique_ptr<backend::OwnKernel> OpenclDevice::compile(const KernelSource& source) {
  return compile_own_kernel(context_, *programs_, source);
}

}  // namespace tessera::opencl
