// DeviceCore: memory and blocking transfers on one opened device.
#include "device_core.h"

#include <utility>

namespace tessera::detail {

DeviceCore::DeviceCore(backend::Backend& backend, std::unique_ptr<backend::Device> device, std::string id,
                       std::string chosen_because)
    : device_(std::move(device)),
      operators_(backend.operators()),
      backend_name_(backend.name()),
      id_(std::move(id)),
      chosen_because_(std::move(chosen_because)),
      info_when_opened_(info()),
      allocator_(*device_, id_) {}

DeviceInfo DeviceCore::info() const {
  DeviceInfo info = device_->info();
  info.id = id_;
  info.backend = backend_name_;
  info.chosen_because = chosen_because_;
  return info;
}

std::shared_ptr<Block> DeviceCore::allocate(std::size_t size_bytes, const std::string& label) {
  return std::make_shared<Block>(shared_from_this(), allocator_.take(size_bytes), size_bytes, label);
}

template <class Transfer>
void DeviceCore::transfer_now(const Transfer& transfer) {
  const std::lock_guard lock(transfer_mutex_);
  if (transfer_queue_ == nullptr) transfer_queue_ = device_->make_queue();
  try {
    transfer(*transfer_queue_);
    transfer_queue_->finish();
  } catch (...) {
    transfer_queue_.reset();  // a failed queue stays failed: the next transfer starts with a fresh one
    throw;
  }
}

void DeviceCore::upload_now(const backend::Slice& destination, const void* host) {
  if (destination.size_bytes == 0) return;
  transfer_now([&](backend::Queue& queue) { queue.upload(destination, host); });
}

void DeviceCore::download_now(void* host, const backend::Slice& source) {
  if (source.size_bytes == 0) return;
  transfer_now([&](backend::Queue& queue) { queue.download(host, source); });
}

}  // namespace tessera::detail
