// The caching allocator of one device: keeps what the program frees, gives it out again, and knows who holds the memory
// when there is none left.
#pragma once

#include <tessera/device.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "block.h"

namespace tessera::detail {

class SharedMemory;

/// Called from several threads at once.
class Allocator {
 public:
  Allocator(backend::Device& device, std::string device_id, std::shared_ptr<SharedMemory> shared);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// What is asked of the driver for a buffer of this size: sizes are rounded up.
  [[nodiscard]] static std::size_t capacity_of(std::size_t size_bytes) noexcept;
  /// Memory of at least `size_bytes`: cached, or from the driver. Out of memory: SharedMemory gives back what it can,
  /// and then it throws out_of_memory naming the largest holders.
  [[nodiscard]] Memory take(std::size_t size_bytes);
  /// Takes memory back; it is pending until every use is over.
  void give(Memory memory, std::vector<Use> uses) noexcept;
  /// Leaves everything that it keeps to the process that made it.
  void abandon() noexcept;

  void add_holder(const Holder& holder);
  void remove_holder(const Holder& holder) noexcept;

  /// What is freed and not in use any more becomes free to take. `wait`: waits for the queues that use it.
  void collect_pending(bool wait) noexcept;
  /// Frees all that is cached. Returns the bytes.
  std::uint64_t trim() noexcept;

  [[nodiscard]] MemoryStatistics statistics();
  /// Who holds how much: entries of a list that error messages sort by size.
  struct NamedHolder {
    std::size_t size_bytes = 0;
    std::string name;
  };
  void list_holders(std::vector<NamedHolder>& list);

 private:
  /// A cached holding that fits; an empty node if there is none.
  [[nodiscard]] Memory take_cached(std::size_t capacity_bytes);

  backend::Device& device_;
  const std::string device_id_;
  const std::shared_ptr<SharedMemory> shared_;
  std::mutex mutex_;
  MemoryBook cached_;
  MemoryBook pending_;
  std::set<const Holder*> holders_;
  MemoryStatistics statistics_;
};

}  // namespace tessera::detail
