// What a Device, its buffers, queues and kernels share: the backend's device, the allocator and a queue for blocking
// transfers. Lives until the last of them goes.
#pragma once

#include <tessera/device.h>

#include <memory>
#include <mutex>
#include <string>

#include "allocator.h"
#include "backend/backend.h"
#include "block.h"

namespace tessera::detail {

class DeviceCore : public std::enable_shared_from_this<DeviceCore> {
 public:
  DeviceCore(backend::Backend& backend, std::unique_ptr<backend::Device> device, std::string id,
             std::string chosen_because);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::string_view backend_name() const noexcept { return backend_name_; }
  [[nodiscard]] backend::Device& device() noexcept { return *device_; }
  [[nodiscard]] const backend::OperatorTable& operators() const noexcept { return operators_; }
  [[nodiscard]] Allocator& allocator() noexcept { return allocator_; }
  [[nodiscard]] DeviceInfo info() const;
  /// The facts as they were when the device was opened: cheap.
  [[nodiscard]] const DeviceInfo& info_when_opened() const noexcept { return info_when_opened_; }

  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t size_bytes, const std::string& label);
  /// Blocks until the bytes are copied. Called from any thread.
  void upload_now(const backend::Slice& destination, const void* host);
  void download_now(void* host, const backend::Slice& source);

 private:
  template <class Transfer>
  void transfer_now(const Transfer& transfer);

  std::unique_ptr<backend::Device> device_;  // first, so that it goes last
  const backend::OperatorTable& operators_;
  std::string backend_name_;
  std::string id_;
  std::string chosen_because_;
  DeviceInfo info_when_opened_;
  Allocator allocator_;
  std::mutex transfer_mutex_;
  std::unique_ptr<backend::Queue> transfer_queue_;
};

/// The part of device memory that a view stands for; null for a view of nothing.
[[nodiscard]] inline backend::Slice slice_of(const UntypedView& view) {
  if (!view) return {};
  return {&view.block()->buffer(), view.offset_bytes(), view.size_bytes()};
}

}  // namespace tessera::detail
