// Copies from and to ordinary host memory. The driver would block the caller (API synchronization behaviour: a download
// to pageable memory returns when it is done), so the bytes go through page-locked memory, moved there and back by host
// functions that run in the stream's order. Where no page-locked memory is to be had, the driver copies, and blocks.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "cuda_context.h"

namespace tessera::cuda {

/// True for memory that the driver copies without staging: its own page-locked memory, or registered by the
/// application.
[[nodiscard]] bool is_page_locked(const Context& context, const void* host) noexcept;

/// Belongs to one queue and is used under its lock, but for abandon(); takes its page-locked memory on first use.
class Staging {
 public:
  explicit Staging(const Context& context);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  /// The stream is idle, or abandon() was called.
  ~Staging();

  /// Queue the copy piece by piece and return at once. If they throw, pieces may be queued: what they use, `host` and
  /// what is kept here, stays until the stream is idle or abandon() was called.
  void upload(CUstream stream, CUdeviceptr destination, const void* host, std::size_t size_bytes);
  void download(CUstream stream, void* host, CUdeviceptr source, std::size_t size_bytes);

  /// To be called when the context is dead: after it no host function touches host memory, even if the driver still
  /// calls one. Waits for a host function that is running. From any thread.
  void abandon() noexcept;

 private:
  struct HostCopy;

  /// Is there page-locked memory?
  [[nodiscard]] bool prepare();
  /// Queues a copy from host memory to host memory.
  void queue_host_copy(CUstream stream, void* to, const void* from, std::size_t size_bytes);

  const Context& context_;
  void* memory_ = nullptr;
  std::mutex copies_mutex_;
  std::deque<std::unique_ptr<HostCopy>> copies_;  ///< oldest first; each is read until it is done
};

}  // namespace tessera::cuda
