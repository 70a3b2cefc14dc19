// The OpenCL loader, opened at run time: a table of its functions, and the handles that give objects back to it.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <string>
#include <utility>

#include "backend/shared_library.h"

// Every OpenCL function that this backend calls: all of them are in OpenCL 1.2.
#define TESSERA_OPENCL_FUNCTIONS(apply)                                                                                \
  apply(clGetPlatformIDs) apply(clGetPlatformInfo) apply(clGetDeviceIDs) apply(clGetDeviceInfo) apply(clCreateContext) \
      apply(clReleaseContext) apply(clCreateCommandQueue) apply(clReleaseCommandQueue) apply(clCreateBuffer)           \
          apply(clCreateSubBuffer) apply(clReleaseMemObject) apply(clCreateProgramWithSource)                          \
              apply(clCreateProgramWithBinary) apply(clBuildProgram) apply(clGetProgramInfo)                           \
                  apply(clGetProgramBuildInfo) apply(clReleaseProgram) apply(clCreateKernel) apply(clReleaseKernel)    \
                      apply(clSetKernelArg) apply(clGetKernelInfo) apply(clGetKernelArgInfo)                           \
                          apply(clGetKernelWorkGroupInfo) apply(clEnqueueNDRangeKernel) apply(clEnqueueReadBuffer)     \
                              apply(clEnqueueWriteBuffer) apply(clEnqueueCopyBuffer) apply(clEnqueueFillBuffer)        \
                                  apply(clEnqueueMapBuffer) apply(clEnqueueUnmapMemObject)                             \
                                      apply(clEnqueueMarkerWithWaitList) apply(clEnqueueBarrierWithWaitList)           \
                                          apply(clWaitForEvents) apply(clGetEventInfo) apply(clGetEventProfilingInfo)  \
                                              apply(clReleaseEvent) apply(clFlush) apply(clFinish)

namespace tessera::opencl {

/// The loader's functions under their own names. One object a process, never destroyed.
class OpenclApi {
 public:
  /// Opens the loader. Returns "" if every function is there, or the sentence that says what is missing.
  [[nodiscard]] std::string open();
  /// The name that the loader opened by.
  [[nodiscard]] const std::string& loader() const noexcept { return library_.name(); }

#define TESSERA_OPENCL_MEMBER(function) decltype(&::function) function = nullptr;
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_MEMBER)
#undef TESSERA_OPENCL_MEMBER

 private:
  backend::SharedLibrary library_;
};

/// A build of this plug-in for tests defines it, and puts functions of its own before the driver's; see
/// tests/fault/opencl. The plug-in that users have does not.
[[gnu::weak, gnu::visibility("hidden")]] void wrap_functions(OpenclApi& api);

/// Owns one OpenCL object: calls the matching clRelease function once. What that function answers is not looked at,
/// since a destructor could not report it.
template <class Object>
class Handle {
 public:
  using Release = cl_int(CL_API_CALL*)(Object);

  Handle() = default;
  Handle(Object object, Release release) noexcept : object_(object), release_(release) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (object_ != nullptr) release_(object_);
  }

  [[nodiscard]] Object get() const noexcept { return object_; }
  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace tessera::opencl
