// A point on a queue: a timed marker, with the number of the last command before it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/backend.h"
#include "opencl_context.h"

namespace tessera::opencl {

/// How far a queue is known to be. Shared with its events, which may be waited for on other threads and outlive it.
struct Progress {
  std::atomic<std::uint64_t> newest{0};  ///< the last command that the driver accepted
  std::atomic<std::uint64_t> done{0};    ///< the last one known to have succeeded
  // The same in commands of the driver, of which one of the queue's may be several.
  std::atomic<std::uint64_t> accepted{0};  ///< how many the driver has taken
  std::atomic<std::uint64_t> past{0};      ///< how many of them it has said to be over
};

class OpenclEvent final : public backend::Event {
 public:
  OpenclEvent(std::shared_ptr<OpenclContext> context, std::shared_ptr<Progress> progress, Handle<cl_event> event,
              std::uint64_t command, std::uint64_t accepted);

  void wait() override;
  [[nodiscard]] bool is_done() override;
  [[nodiscard]] double seconds_since(backend::Event& start) override;

  [[nodiscard]] cl_event native() const noexcept { return event_.get(); }

 private:
  /// The driver's word on the command: a positive state, 0 when it is done, or a negative error.
  [[nodiscard]] cl_int status() const;
  [[nodiscard]] cl_ulong end_ns() const;
  void note_success() noexcept;

  std::shared_ptr<OpenclContext> context_;
  std::shared_ptr<Progress> progress_;
  Handle<cl_event> event_;
  std::uint64_t command_ = 0;
  std::uint64_t accepted_ = 0;  ///< by the driver, before the event
};

}  // namespace tessera::opencl
