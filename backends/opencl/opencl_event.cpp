// Waits for events and reads their times.
#include "opencl_event.h"

#include <utility>

#include "mathematics/rising_number.h"

namespace tessera::opencl {

OpenclEvent::OpenclEvent(std::shared_ptr<OpenclContext> context, std::shared_ptr<Progress> progress,
                         Handle<cl_event> event, std::uint64_t command, std::uint64_t accepted)
    : context_(std::move(context)),
      progress_(std::move(progress)),
      event_(std::move(event)),
      command_(command),
      accepted_(accepted) {}

void OpenclEvent::note_success() noexcept {
  mathematics::raise(progress_->done, command_);
  mathematics::raise(progress_->past, accepted_);
}

void OpenclEvent::wait() {
  const cl_event event = native();
  const cl_int code = context_->api().clWaitForEvents(1, &event);
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    // The event itself knows which error it was.
    const cl_int inner = status();
    context_->check(inner < 0 ? inner : code, "clWaitForEvents", Stage::execution);
  }
  context_->check(code, "clWaitForEvents", Stage::execution);
  note_success();
}

bool OpenclEvent::is_done() {
  const cl_int now = status();
  if (now < 0) context_->check(now, "a command before an event", Stage::execution);
  if (now != CL_COMPLETE) return false;
  note_success();
  return true;
}

double OpenclEvent::seconds_since(backend::Event& start) {
  const cl_ulong stop_ns = end_ns();
  const cl_ulong start_ns = static_cast<const OpenclEvent&>(start).end_ns();
  return 1e-9 *
         (stop_ns >= start_ns ? static_cast<double>(stop_ns - start_ns) : -static_cast<double>(start_ns - stop_ns));
}

cl_int OpenclEvent::status() const {
  cl_int status = CL_QUEUED;
  context_->check(
      context_->api().clGetEventInfo(native(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
      "clGetEventInfo", Stage::execution);
  return status;
}

cl_ulong OpenclEvent::end_ns() const {
  cl_ulong end = 0;
  context_->check(
      context_->api().clGetEventProfilingInfo(native(), CL_PROFILING_COMMAND_END, sizeof(end), &end, nullptr),
      "clGetEventProfilingInfo");
  return end;
}

}  // namespace tessera::opencl
