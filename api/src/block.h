// Device memory as the core sees it: a block with its owner and the queues that use it. The last handle to go gives the
// memory back to the allocator together with what is known of its uses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "queue_progress.h"

namespace tessera::detail {

class DeviceCore;
class QueueCore;

/// "This queue is done with it once it is past command `sequence`."
struct Use {
  std::shared_ptr<QueueProgress> progress;
  std::weak_ptr<QueueCore> queue;  ///< to ask how far it is; a queue that is gone has noted that in `progress`
  std::uint64_t sequence = 0;

  [[nodiscard]] bool is_over() const noexcept { return progress->is_past(sequence); }
};

/// Memory from the driver, and who may still be using it.
struct Holding {
  std::unique_ptr<backend::Buffer> buffer;
  std::vector<Use> uses;
};

/// Holdings by their capacity in bytes. One moves from book to book as a node, so that giving memory back allocates
/// none.
using MemoryBook = std::multimap<std::size_t, Holding>;
using Memory = MemoryBook::node_type;

/// An entry in the allocator's list of who holds memory, for as long as it lives.
class Holder {
 public:
  enum class Kind : std::uint8_t { buffer, pinned, kernel };

  Holder(std::shared_ptr<DeviceCore> device, Kind kind, std::string label, std::size_t size_bytes);
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return device_; }
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  const std::shared_ptr<DeviceCore> device_;
  const Kind kind_;
  const std::string label_;
  const std::size_t size_bytes_;
};

class Block {
 public:
  Block(std::shared_ptr<DeviceCore> device, Memory memory, std::size_t size_bytes, std::string label);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  [[nodiscard]] const std::shared_ptr<DeviceCore>& device() const noexcept { return holder_.device(); }
  [[nodiscard]] backend::Buffer& buffer() const noexcept { return *memory_.mapped().buffer; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return holder_.size_bytes(); }
  [[nodiscard]] const std::string& label() const noexcept { return holder_.label(); }

  /// Notes that command `sequence` of the queue uses this memory. Called from any thread, before the command is queued.
  void note_use(const std::shared_ptr<QueueCore>& queue, std::uint64_t sequence);

 private:
  Memory memory_;
  Holder holder_;
  std::mutex mutex_;
  std::vector<Use> uses_;
};

/// Host memory that a device's driver knows.
class PinnedBlock {
 public:
  PinnedBlock(std::shared_ptr<DeviceCore> device, std::unique_ptr<backend::PinnedMemory> memory,
              std::size_t size_bytes);
  ~PinnedBlock();
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  [[nodiscard]] void* data() const noexcept { return memory_->data(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return holder_.size_bytes(); }

 private:
  Holder holder_;  // keeps the device, which outlives the memory
  std::unique_ptr<backend::PinnedMemory> memory_;
};

}  // namespace tessera::detail
