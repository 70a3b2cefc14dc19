// A queue: one in-order command queue of OpenCL with profiling on, so that events carry times.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "opencl_context.h"
#include "opencl_event.h"
#include "opencl_launch_watch.h"

namespace tessera::opencl {

/// A kernel's launch: work-items in all and in a group. No local extent given (dimensions 0) means nothing to do.
struct NdRange {
  cl_uint dimensions = 0;
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
};

class OpenclQueue final : public backend::Queue {
 public:
  explicit OpenclQueue(std::shared_ptr<OpenclContext> context);
  ~OpenclQueue() override;
  OpenclQueue(const OpenclQueue&) = delete;
  OpenclQueue& operator=(const OpenclQueue&) = delete;

  void upload(const backend::Slice& destination, const void* host) override;
  void download(void* host, const backend::Slice& source) override;
  void copy(const backend::Slice& destination, const backend::Slice& source) override;
  void fill(const backend::Slice& destination, std::span<const std::byte> pattern) override;
  [[nodiscard]] std::unique_ptr<backend::Event> record() override;
  void wait(backend::Event& event) override;
  void finish() override;
  [[nodiscard]] bool drain() noexcept override;  ///< asks in three ways, each several times: see there
  [[nodiscard]] backend::Suspects suspects() const override;
  void watch_launches() override { watch_ = std::make_unique<LaunchWatch>(); }
  [[nodiscard]] std::vector<LaunchFacts> watched_launches() override;

  /// Queues a kernel whose arguments are set. The caller holds the kernel's lock. `stage` is Stage::rest for all but
  /// the first launch of a command.
  void launch(cl_kernel kernel, const NdRange& range, Stage stage = Stage::launch);
  /// kCounters numbers of 32 bits on the device. They are 0 when a launch begins, and it leaves them so: groups of one
  /// launch count with them, and those of two do not meet, because the queue is in order.
  static constexpr std::uint64_t kCounters = 4096;
  [[nodiscard]] cl_mem counters();
  /// Lets a library queue commands of its own. `enqueue` is given the queue and answers with the library's code, of
  /// which those that are OpenCL's are translated; `call` names its function in errors.
  void launch_library(std::string_view call, const std::function<cl_int(cl_command_queue)>& enqueue);

 private:
  /// Blocks until a marker behind everything queued so far is past. False if the driver does not say so.
  [[nodiscard]] bool waits_for_marker() const noexcept;
  /// Notes a command that the driver has accepted, or throws, and sees to it that it starts.
  void accepted(cl_int code, std::string_view call, Stage stage = Stage::request);

  std::shared_ptr<OpenclContext> context_;
  std::shared_ptr<Progress> progress_;
  bool times_markers_;
  std::unique_ptr<LaunchWatch> watch_;  ///< null: nobody watches
  Handle<cl_mem> counters_;             ///< null until a launch wants them
  Handle<cl_command_queue> queue_;
};

}  // namespace tessera::opencl
