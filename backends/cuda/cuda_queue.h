// Queues: a stream each, with the books that tell which command may have failed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "cuda_context.h"
#include "cuda_event.h"
#include "cuda_launch_watch.h"
#include "cuda_progress.h"
#include "cuda_staging.h"

namespace tessera::cuda {

/// The extents of a launch, as the driver takes them.
struct LaunchGrid {
  std::array<unsigned, 3> groups{1, 1, 1};
  std::array<unsigned, 3> group_size{1, 1, 1};
  unsigned dynamic_shared_bytes = 0;
  unsigned cluster_y = 1;  ///< groups along y that run at the same time and reach each other's memory; sm_90 and newer
  /// The groups may be sent to the card while the kernel before still runs, and wait for its end by themselves
  /// (griddepcontrol.wait stands in the kernel before its first access to memory); sm_90 and newer.
  bool overlaps = false;
};

/// Loads the kernels of fill(), which are then there for every queue of the context.
void load_fill(Context& context);

class CudaQueue final : public backend::Queue {
 public:
  explicit CudaQueue(std::shared_ptr<Context> context);
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() override;

  void upload(const backend::Slice& destination, const void* host) override;
  void download(void* host, const backend::Slice& source) override;
  void copy(const backend::Slice& destination, const backend::Slice& source) override;
  void fill(const backend::Slice& destination, std::span<const std::byte> pattern) override;
  [[nodiscard]] std::unique_ptr<backend::Event> record() override;
  void wait(backend::Event& event) override;
  void finish() override;
  [[nodiscard]] bool drain() noexcept override;
  [[nodiscard]] backend::Suspects suspects() const override;
  void watch_launches() override { watch_ = std::make_unique<LaunchWatch>(); }
  [[nodiscard]] std::vector<LaunchFacts> watched_launches() override;

  /// Lets `enqueue(stream)` queue something of another library, with the context current.
  template <class Enqueue>
  void submit(Enqueue enqueue) {
    context_->make_current();
    enqueue(stream_);
    note_queued();
  }

  /// Queues a kernel. `parameters` point to the values of its parameters, which are copied before this returns.
  void launch(CUfunction function, const LaunchGrid& grid, void** parameters);
  /// Queues a mark behind the last launch, so that a fault of a later command is not blamed on that launch.
  void mark_progress() noexcept { marks_.add(stream_, command()); }

 private:
  void fill_64(const backend::Slice& destination, std::uint64_t pattern);
  /// Called after every command that the driver has accepted.
  void note_queued() noexcept { queued_.store(command(), std::memory_order_relaxed); }

  std::shared_ptr<Context> context_;
  std::shared_ptr<Progress> progress_;
  ProgressMarks marks_;
  Staging staging_;
  std::atomic<std::uint64_t> queued_{0};  ///< atomic, because finish() may run beside a thread that queues
  std::unique_ptr<LaunchWatch> watch_;    ///< null: nobody watches
  CUstream stream_ = nullptr;
};

}  // namespace tessera::cuda
