// What a driver says about one of its devices. Gathered without opening the device.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/device.h>

#include "opencl_api.h"

namespace tessera::opencl {

/// One device of one platform with everything that this backend wants to know about it.
struct DeviceFacts {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  DeviceInfo info;
  std::uint64_t base_alignment_bytes = 1;  ///< of an offset that a part of a buffer may start at
  std::uint64_t vector_bytes = 16;         ///< of a vector register, where the device says that it has one
  /// A processor by its type, perhaps among others: Oclgrind's device is of every type, and so its kind is a GPU.
  bool is_processor = false;
  /// NVIDIA's own driver, whose quirks the README tells.
  bool is_nvidia = false;
  /// PoCL: runs a work-group's items one after the other, in as many loops as it has barriers and one more.
  bool is_pocl = false;
  /// NVIDIA's tensor cores multiply 16 x 32 bytes by 32 x 8 and 16 x 16 of fp16 by 16 x 8, and copies to local memory
  /// pass no register: from sm_80.
  bool has_tensor_cores = false;
  /// NVIDIA's sm_90, the architecture whose warp groups multiply; whether the driver compiles that, OpenclDevice knows.
  bool is_hopper = false;
  /// NVIDIA architecture (80, 90) whose tensor-core instruction for float64 the device has, or 0.
  int float64_tensor_cores = 0;
  /// NVIDIA's instruction for the products of 4 bytes and their sum, from sm_61 on.
  bool has_dp4a = false;
  /// Quotients of float32 are rounded as IEEE says, where a program asks for it.
  bool divides_exactly = false;
  /// Additions to 64 bits of memory (cl_khr_int64_base_atomics).
  bool has_int64_atomics = false;
  /// A work-group can read what another one of the same launch wrote before it counted: by fences that reach the whole
  /// device, OpenCL C 3.0's where the device has them, NVIDIA's own instruction there.
  bool has_device_fences = false;
  /// Commands wait until the queue is flushed. NVIDIA and PoCL start them at once.
  bool needs_flush = true;
  /// Equal only if a program compiled for one is right for the other: name, vendor, and versions of device and driver.
  std::string identity;
};

/// Fills in the facts. Throws Error if the driver does not answer.
[[nodiscard]] DeviceFacts gather_facts(const OpenclApi& api, cl_platform_id platform, cl_device_id device);

/// Why this backend cannot use the device ("it offers OpenCL 1.1, but must offer 1.2 or newer"), or "" if it can.
[[nodiscard]] std::string why_unusable(const OpenclApi& api, cl_device_id device);

/// A platform's text, without the padding that some drivers put around it.
[[nodiscard]] std::string platform_text(const OpenclApi& api, cl_platform_id platform, cl_platform_info what);
[[nodiscard]] std::string device_text(const OpenclApi& api, cl_device_id device, cl_device_info what);

}  // namespace tessera::opencl
