// One opened device as OpenCL sees it: a context, and a queue of the backend's own for what is no queue's business.
// Everything that lives on the device shares it, so nothing outlives it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "opencl_api.h"
#include "opencl_error.h"
#include "opencl_facts.h"

namespace tessera::opencl {

class OpenclContext {
 public:
  OpenclContext(const OpenclApi& api, DeviceFacts facts);

  [[nodiscard]] const OpenclApi& api() const noexcept { return api_; }
  [[nodiscard]] const DeviceFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const std::string& device_name() const noexcept { return facts_.info.name; }
  [[nodiscard]] cl_context native() const noexcept { return context_.get(); }
  /// For allocating and mapping: used by any thread. Whoever queues something finishes it before another queue may meet
  /// what it works on: that a blocking call returned says only that the host's bytes may be used again.
  [[nodiscard]] cl_command_queue service_queue() const noexcept { return service_queue_.get(); }

  [[nodiscard]] Handle<cl_command_queue> make_queue() const;
  /// Do markers of this device carry times? Some drivers do not time them. Finds out on the first call.
  [[nodiscard]] bool times_markers();
  /// Four bytes on the device that a queue may write when it needs a command that is timed.
  [[nodiscard]] cl_mem scratch() const noexcept { return scratch_.get(); }

  /// Has a command crashed the device? True only if it is certain: then no command of it runs any more, and nothing
  /// will. Waits for the service queue, which is as good as empty.
  [[nodiscard]] bool is_lost() const noexcept;

  /// Throws if a call failed: `context.check(code, "clFinish", Stage::execution)`.
  void check(cl_int native, std::string_view call, Stage stage = Stage::request) const {
    if (native != CL_SUCCESS) [[unlikely]]
      fail(native, call, stage);
  }

 private:
  /// device_lost if the device is, whatever the code; else what the code means at that stage.
  [[noreturn]] void fail(cl_int native, std::string_view call, Stage stage) const;

  const OpenclApi& api_;
  DeviceFacts facts_;
  Handle<cl_context> context_;
  Handle<cl_command_queue> service_queue_;
  Handle<cl_mem> scratch_;
  std::once_flag markers_asked_;
  bool times_markers_ = false;
};

}  // namespace tessera::opencl
