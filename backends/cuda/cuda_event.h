// Events: points on a queue, taken from the context's pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/backend.h"
#include "cuda_context.h"
#include "mathematics/rising_number.h"

namespace tessera::cuda {

/// How far a queue is known to be: shared with its events, because waiting for one tells it too.
class Progress {
 public:
  [[nodiscard]] std::uint64_t known() const noexcept { return known_.load(std::memory_order_relaxed); }
  void reached(std::uint64_t command) noexcept { mathematics::raise(known_, command); }

 private:
  std::atomic<std::uint64_t> known_{0};
};

class CudaEvent final : public backend::Event {
 public:
  /// A point on `stream` now, behind `command`.
  CudaEvent(std::shared_ptr<Context> context, CUstream stream, std::shared_ptr<Progress> progress,
            std::uint64_t command);
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override;

  void wait() override;
  [[nodiscard]] bool is_done() override;
  [[nodiscard]] double seconds_since(backend::Event& start) override;

  [[nodiscard]] CUevent handle() const noexcept { return event_; }

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<Progress> progress_;
  std::uint64_t command_;
  CUevent event_;
};

}  // namespace tessera::cuda
