// Copies from and to ordinary host memory. The driver would block the caller (API synchronization behaviour: a download
// to pageable memory returns when it is done), so the bytes go through page-locked memory, moved there and back by host
// functions that run in the stream's order.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "cuda_context.h"

namespace tessera::cuda {

/// True for memory that the driver copies without staging: its own page-locked memory, or registered by the
/// application.
[[nodiscard]] bool is_page_locked(const Context& context, const void* host) noexcept;

/// Belongs to one queue and is used under its lock; takes its page-locked memory on first use.
class Staging {
 public:
  explicit Staging(const Context& context);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  /// The stream is idle.
  ~Staging();

  /// Queue the copy piece by piece and return at once.
  void upload(CUstream stream, CUdeviceptr destination, const void* host, std::size_t size_bytes);
  void download(CUstream stream, void* host, CUdeviceptr source, std::size_t size_bytes);

 private:
  struct HostCopy;

  void prepare();
  /// Queues a copy from host memory to host memory.
  void queue_host_copy(CUstream stream, void* to, const void* from, std::size_t size_bytes);

  const Context& context_;
  void* memory_ = nullptr;
  std::deque<std::unique_ptr<HostCopy>> copies_;  ///< oldest first; each is read until its `done` is set
};

}  // namespace tessera::cuda
