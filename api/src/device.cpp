// Device: the public face of DeviceCore.
#include <tessera/device.h>

#include <utility>

#include "backend/sentence.h"
#include "device_core.h"

namespace tessera {

using backend::sentence;

namespace {

/// count * element_bytes, refused if no address space could hold it.
std::size_t checked_size(std::size_t count, std::size_t element_bytes, const std::string& device) {
  std::size_t size = 0;
  if (__builtin_mul_overflow(count, element_bytes, &size) || size > static_cast<std::size_t>(PTRDIFF_MAX)) {
    throw Error(ErrorCode::invalid_argument,
                sentence("a buffer of ", count, " elements of ", element_bytes, " bytes on ", device,
                         " passes the largest size, ", PTRDIFF_MAX, " bytes"));
  }
  return size;
}

}  // namespace

Device::Device(std::shared_ptr<detail::DeviceCore> core) noexcept : core_(std::move(core)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

DeviceInfo Device::info() const {
  return core_->info();
}
const std::string& Device::id() const noexcept {
  return core_->id();
}

UntypedView Device::allocate_untyped(DataType type, std::size_t count, const BufferOptions& options) const {
  const std::size_t size = checked_size(count, size_bytes(type), core_->id());
  return {core_->allocate(size, options.label), type, 0, count, true};
}

void Device::upload_bytes(const UntypedView& destination, const void* host) const {
  core_->upload_now(detail::slice_of(destination), host);
}

detail::PinnedMemory Device::allocate_pinned_bytes(std::size_t count, std::size_t element_bytes) const {
  const std::size_t size = checked_size(count, element_bytes, core_->id());
  auto memory = core_->device().allocate_pinned(std::max<std::size_t>(size, 1));
  return detail::PinnedMemory(std::make_shared<detail::PinnedBlock>(core_, std::move(memory), size));
}

MemoryStatistics Device::memory() const {
  return core_->allocator().statistics();
}
std::uint64_t Device::trim() const {
  return core_->allocator().trim();
}

}  // namespace tessera
