// Device memory as the core sees it: a block with its owner and the queues that use it. The last handle to go gives the
// memory back to the allocator together with what is known of its uses.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace tessera::detail {

class DeviceCore;
class QueueCore;

/// Memory from the driver and how much of it there is.
struct Memory {
  std::unique_ptr<backend::Buffer> buffer;
  std::size_t capacity_bytes = 0;
};

/// "This queue is done with it once it is past command `sequence`."
struct Use {
  const QueueCore* identity = nullptr;
  std::weak_ptr<QueueCore> queue;
  std::uint64_t sequence = 0;
};

class Block {
 public:
  Block(std::shared_ptr<DeviceCore> device, Memory memory, std::size_t size_bytes, std::string label);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] backend::Buffer& buffer() const noexcept { return *memory_.buffer; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }

  /// Notes that command `sequence` of the queue uses this memory. Called from any thread.
  void note_use(const std::shared_ptr<QueueCore>& queue, std::uint64_t sequence);

 private:
  std::shared_ptr<DeviceCore> device_;
  Memory memory_;
  std::size_t size_bytes_;
  std::string label_;
  std::mutex mutex_;
  std::vector<Use> uses_;
};

/// Host memory that a device's driver knows.
class PinnedBlock {
 public:
  PinnedBlock(std::shared_ptr<DeviceCore> device, std::unique_ptr<backend::PinnedMemory> memory, std::size_t size_bytes)
      : device_(std::move(device)), memory_(std::move(memory)), size_bytes_(size_bytes) {}
  [[nodiscard]] void* data() const noexcept { return memory_->data(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::shared_ptr<DeviceCore> device_;  // outlives the memory
  std::unique_ptr<backend::PinnedMemory> memory_;
  std::size_t size_bytes_;
};

}  // namespace tessera::detail
