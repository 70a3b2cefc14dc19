// Opens and closes a context.
#include "opencl_context.h"

#include <array>
#include <utility>

namespace tessera::opencl {

OpenclContext::OpenclContext(const OpenclApi& api, DeviceFacts facts) : api_(api), facts_(std::move(facts)) {
  const std::array<cl_context_properties, 3> properties{CL_CONTEXT_PLATFORM,
                                                        reinterpret_cast<cl_context_properties>(facts_.platform), 0};
  cl_int code = CL_SUCCESS;
  context_ = {api_.clCreateContext(properties.data(), 1, &facts_.device, nullptr, nullptr, &code),
              api_.clReleaseContext};
  check(code, "clCreateContext", Stage::allocation);
  service_queue_ = make_queue();
  scratch_ = {api_.clCreateBuffer(native(), CL_MEM_READ_WRITE, sizeof(cl_int), nullptr, &code),
              api_.clReleaseMemObject};
  check(code, "clCreateBuffer", Stage::allocation);
}

bool OpenclContext::is_lost() const noexcept {
  if (!service_queue_) return false;
  // Twice, because a driver that is short of something may give any answer once.
  return is_lost_code(api_.clFinish(service_queue())) && is_lost_code(api_.clFinish(service_queue()));
}

void OpenclContext::fail(cl_int native, std::string_view call, Stage stage) const {
  throw_failed_call(native, is_lost() ? Stage::lost : stage, call, device_name());
}

Handle<cl_command_queue> OpenclContext::make_queue() const {
  cl_int code = CL_SUCCESS;
  Handle<cl_command_queue> queue(api_.clCreateCommandQueue(native(), facts_.device, CL_QUEUE_PROFILING_ENABLE, &code),
                                 api_.clReleaseCommandQueue);
  check(code, "clCreateCommandQueue", Stage::allocation);
  return queue;
}

bool OpenclContext::times_markers() {
  std::call_once(markers_asked_, [this] {
    cl_event event = nullptr;
    check(api_.clEnqueueMarkerWithWaitList(service_queue(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
    const Handle<cl_event> marker(event, api_.clReleaseEvent);
    check(api_.clWaitForEvents(1, &event), "clWaitForEvents", Stage::execution);
    cl_ulong end_ns = 0;
    const cl_int code = ask_again([&] {
      return api_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end_ns), &end_ns, nullptr);
    });
    times_markers_ = code == CL_SUCCESS && end_ns != 0;
  });
  return times_markers_;
}

}  // namespace tessera::opencl
