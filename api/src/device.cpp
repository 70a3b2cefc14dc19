// Device: the public face of DeviceCore.
#include <tessera/device.h>

#include <utility>

#include "backend/sentence.h"
#include "boundary.h"
#include "core_of.h"
#include "device_core.h"

namespace tessera {

using backend::sentence;
using detail::at_boundary;

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
  return at_boundary([&] {
    const detail::DeviceCore& core = detail::core_of(core_, "device");
    return core.is_elsewhere() ? core.info_when_opened() : core.info();
  });
}
const std::string& Device::id() const noexcept {
  static const std::string nothing;  // id() throws nothing, so a handle that was moved from has no name
  return core_ != nullptr ? core_->id() : nothing;
}

UntypedView Device::allocate_untyped(DataType type, std::size_t count, const BufferOptions& options) const {
  return at_boundary([&]() -> UntypedView {
    detail::DeviceCore& core = detail::core_of(core_, "device");
    const std::size_t size = checked_size(count, size_bytes(type), core.id());
    return {core.allocate(size, options.label), type, 0, count, true};
  });
}

void Device::upload_bytes(const UntypedView& destination, const void* host) const {
  at_boundary([&] { detail::core_of(core_, "device").upload_now(destination, host); });
}

detail::PinnedMemory Device::allocate_pinned_bytes(std::size_t count, std::size_t element_bytes) const {
  return at_boundary([&] {
    detail::DeviceCore& core = detail::core_of(core_, "device");
    return detail::PinnedMemory(core.allocate_pinned(checked_size(count, element_bytes, core.id())));
  });
}

MemoryStatistics Device::memory() const {
  return at_boundary([&] {
    detail::DeviceCore& core = detail::core_of(core_, "device");
    core.refuse_elsewhere();
    return core.allocator().statistics();
  });
}
std::uint64_t Device::trim() const {
  return at_boundary([&] {
    detail::DeviceCore& core = detail::core_of(core_, "device");
    core.refuse_elsewhere();
    return core.trim();
  });
}

}  // namespace tessera
