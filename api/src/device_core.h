// What a Device, its buffers, queues and kernels share: the backend's device, the allocator and a queue for blocking
// transfers. Lives until the last of them goes.
#pragma once

#include <tessera/device.h>

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator.h"
#include "backend/backend.h"
#include "block.h"
#include "command.h"
#include "device_track.h"
#include "fork.h"
#include "queue_track.h"
#include "shared_memory.h"

namespace tessera::detail {

class CommandWatch;
class QueueCore;

/// What the front half knows of a device when it opens it.
struct OpeningFacts {
  std::string id;
  std::string chosen_because;
  std::string kernels_image;  ///< the build id of the plug-in, which holds the backend's kernels; "" if it has none
};

class DeviceCore : public std::enable_shared_from_this<DeviceCore> {
 public:
  /// Takes over an opened device and makes it known to those that share its memory.
  [[nodiscard]] static std::shared_ptr<DeviceCore> make(backend::Backend& backend,
                                                        std::unique_ptr<backend::Device> device, OpeningFacts facts);
  /// For make().
  DeviceCore(backend::Backend& backend, std::unique_ptr<backend::Device> device, OpeningFacts facts);
  ~DeviceCore();
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  [[nodiscard]] const std::string& id() const noexcept { return facts_.id; }
  [[nodiscard]] const std::string& kernels_image() const noexcept { return facts_.kernels_image; }
  [[nodiscard]] std::string_view backend_name() const noexcept { return backend_name_; }
  [[nodiscard]] backend::Device& device() noexcept { return *device_; }
  [[nodiscard]] const backend::OperatorTable& operators() const noexcept { return operators_; }
  [[nodiscard]] Allocator& allocator() noexcept { return allocator_; }
  [[nodiscard]] SharedMemory& shared_memory() noexcept { return *shared_memory_; }
  [[nodiscard]] DeviceInfo info() const;
  /// The facts as they were when the device was opened: cheap.
  [[nodiscard]] const DeviceInfo& info_when_opened() const noexcept { return info_when_opened_; }

  /// True in a child process of fork(): then the driver is not called and nothing of it destroyed.
  [[nodiscard]] bool is_elsewhere() const noexcept { return birthplace_.is_elsewhere(); }
  /// Throws unavailable if so.
  void refuse_elsewhere() const;

  [[nodiscard]] std::shared_ptr<Block> allocate(std::size_t size_bytes, const std::string& label);
  [[nodiscard]] std::shared_ptr<PinnedBlock> allocate_pinned(std::size_t size_bytes);
  /// Block until the bytes are copied. Called from any thread.
  void upload_now(const UntypedView& destination, const void* host);
  void download_now(void* host, const UntypedView& source);

  /// The device in the trace that is being written; null if there is none.
  [[nodiscard]] std::shared_ptr<DeviceTrack> track() noexcept;
  /// A queue in it, kept in `known` from one trace to the next; null if there is none.
  [[nodiscard]] QueueTrack* track_of(std::unique_ptr<QueueTrack>& known, std::string_view name);

  /// Makes a queue known, whose workspace is given back where memory is short.
  void add_queue(const std::shared_ptr<QueueCore>& queue);
  /// Keeps a queue that could not be drained, with all that it uses, to be asked again. `place` is a list of one.
  void park(std::list<std::shared_ptr<QueueCore>>& place, std::shared_ptr<QueueCore> queue) noexcept;
  /// Gives back what the device caches: workspaces, freed buffers, what the backend holds idle. `wait`: also what is in
  /// use until its queues are past it. Returns the bytes.
  std::uint64_t give_back(bool wait) noexcept;
  /// Gives back what lies idle now, without waiting for any queue. Returns the bytes.
  std::uint64_t trim() noexcept;

 private:
  /// A blocking transfer that could not be drained: its queue, and the memory that it may still use.
  struct StrayTransfer {
    std::unique_ptr<backend::Queue> queue;
    std::shared_ptr<Block> block;
  };

  template <class Transfer>
  void transfer_now(const Command& command, const UntypedView& view, const Transfer& transfer);
  void begin_watch(std::optional<CommandWatch>& watch, const Command& command) noexcept;
  void settle_transfers(const UntypedView& view);
  /// Asks parked queues and stray transfers again.
  void retry_parked() noexcept;
  [[nodiscard]] std::vector<std::shared_ptr<QueueCore>> queues();

  const Birthplace birthplace_;
  std::unique_ptr<backend::Device> device_;  // first of what the backend made, so that it goes last
  const backend::OperatorTable& operators_;
  std::string backend_name_;
  const OpeningFacts facts_;
  DeviceInfo info_when_opened_;
  std::shared_ptr<SharedMemory> shared_memory_;
  std::shared_ptr<SharedMemory> host_memory_;
  Allocator allocator_;
  std::mutex transfer_mutex_;
  std::unique_ptr<backend::Queue> transfer_queue_;
  const std::string transfer_label_ = "blocking copies";
  std::unique_ptr<QueueTrack> transfer_track_;
  std::mutex queues_mutex_;
  std::vector<std::weak_ptr<QueueCore>> queues_;
  std::list<std::shared_ptr<QueueCore>> parked_;
  std::list<StrayTransfer> strays_;
  std::mutex track_mutex_;
  std::shared_ptr<DeviceTrack> track_;
};

/// The part of device memory that a view stands for; null for a view of nothing.
[[nodiscard]] inline backend::Slice slice_of(const UntypedView& view) {
  if (!view) return {};
  return {&view.block()->buffer(), view.offset_bytes(), view.size_bytes()};
}

/// All of a block; null for none.
[[nodiscard]] inline backend::Slice slice_of(const std::shared_ptr<Block>& block) {
  if (block == nullptr) return {};
  return {&block->buffer(), 0, block->size_bytes()};
}

}  // namespace tessera::detail
