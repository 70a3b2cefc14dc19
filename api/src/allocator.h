// The caching allocator of one device: keeps what the program frees, gives it out again, and knows who holds the memory
// when there is none left.
#pragma once

#include <tessera/device.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "block.h"

namespace tessera::detail {

/// Called from several threads at once.
class Allocator {
 public:
  Allocator(backend::Device& device, std::string device_id);

  /// Memory of at least `size_bytes`. Out of memory: waits for what is pending, trims, tries again, then throws
  /// out_of_memory naming the largest live buffers.
  [[nodiscard]] Memory take(std::size_t size_bytes);
  /// Takes memory back; it is pending until every use is done.
  void give(Memory memory, std::vector<Use> uses) noexcept;

  void add_live(const Block& block);
  void remove_live(const Block& block) noexcept;

  [[nodiscard]] MemoryStatistics statistics();
  /// Frees all that is cached, pending memory whose uses are done included. Returns the bytes.
  std::uint64_t trim();

 private:
  struct Pending {
    Memory memory;
    std::vector<Use> uses;
  };

  [[nodiscard]] Memory take_cached(std::size_t size_bytes);
  void collect_pending(bool block);
  void add_cached(Memory memory);
  [[nodiscard]] std::string largest_live();

  backend::Device& device_;
  std::string device_id_;
  std::mutex mutex_;
  std::multimap<std::size_t, Memory> cached_;
  std::vector<Pending> pending_;
  std::set<const Block*> live_;
  MemoryStatistics statistics_;
};

}  // namespace tessera::detail
