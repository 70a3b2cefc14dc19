// Device: the public face of DeviceCore.
#include <tessera/device.h>

#include <utility>

#include "backend/sentence.h"
#include "device_core.h"
#include "handle.h"

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
  return detail::core_of(core_, "device").info();
}
const std::string& Device::id() const noexcept {
  static const std::string nothing;  // id() throws nothing, so a handle that was moved from has no name
  return core_ != nullptr ? core_->id() : nothing;
}

UntypedView Device::allocate_untyped(DataType type, std::size_t count, const BufferOptions& options) const {
  detail::DeviceCore& core = detail::core_of(core_, "device");
  const std::size_t size = checked_size(count, size_bytes(type), core.id());
  return {core.allocate(size, options.label), type, 0, count, true};
}

void Device::upload_bytes(const UntypedView& destination, const void* host) const {
  detail::core_of(core_, "device").upload_now(detail::slice_of(destination), host);
}

detail::PinnedMemory Device::allocate_pinned_bytes(std::size_t count, std::size_t element_bytes) const {
  detail::DeviceCore& core = detail::core_of(core_, "device");
  const std::size_t size = checked_size(count, element_bytes, core.id());
  auto memory = core.device().allocate_pinned(std::max<std::size_t>(size, 1));
  return detail::PinnedMemory(std::make_shared<detail::PinnedBlock>(core_, std::move(memory), size));
}

MemoryStatistics Device::memory() const {
  return detail::core_of(core_, "device").allocator().statistics();
}
std::uint64_t Device::trim() const {
  return detail::core_of(core_, "device").allocator().trim();
}

}  // namespace tessera
