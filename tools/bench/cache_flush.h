// Empties a device's caches between two runs: writes a buffer that is larger than they are together.
#pragma once

#include <cstdint>

#include <tessera/tessera.h>

namespace tessera::tool {

/// How much is written to be sure: twice a GPU's second level; of a processor one last-level cache for every four
/// threads, because that many share one at least, and never less than two.
[[nodiscard]] std::uint64_t flush_bytes_of(const DeviceInfo& info) noexcept;

class CacheFlush {
 public:
  /// Errors as Device::compile() and Device::allocate().
  CacheFlush(const Device& device, const DeviceInfo& info);

  /// Queues a pass that reads and writes every word, by all of the device.
  void enqueue(Queue& queue) const;
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return words_.size_bytes(); }
  /// What a word holds after so many passes, for tests.
  [[nodiscard]] const Buffer<std::uint32_t>& words() const noexcept { return words_; }

 private:
  OwnKernel kernel_;
  LaunchShape shape_;
  Buffer<std::uint32_t> words_;
};

}  // namespace tessera::tool
