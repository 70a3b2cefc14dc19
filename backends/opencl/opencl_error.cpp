// The tables from OpenCL's codes to their names and to ErrorCode.
#include "opencl_error.h"

#include <utility>

namespace tessera::opencl {

namespace {

// Of extensions and drivers; not in cl.h.
constexpr cl_int kPlatformNotFound = -1001;     // CL_PLATFORM_NOT_FOUND_KHR, from the loader
constexpr cl_int kNvidiaIllegalAccess = -9999;  // NVIDIA: a kernel read or wrote outside of its buffers

}  // namespace

std::string name_of(cl_int native) {
#define TESSERA_OPENCL_CODE(code) \
  case code: return #code;
  switch (native) {
    TESSERA_OPENCL_CODE(CL_SUCCESS)
    TESSERA_OPENCL_CODE(CL_DEVICE_NOT_FOUND)
    TESSERA_OPENCL_CODE(CL_DEVICE_NOT_AVAILABLE)
    TESSERA_OPENCL_CODE(CL_COMPILER_NOT_AVAILABLE)
    TESSERA_OPENCL_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    TESSERA_OPENCL_CODE(CL_OUT_OF_RESOURCES)
    TESSERA_OPENCL_CODE(CL_OUT_OF_HOST_MEMORY)
    TESSERA_OPENCL_CODE(CL_PROFILING_INFO_NOT_AVAILABLE)
    TESSERA_OPENCL_CODE(CL_MEM_COPY_OVERLAP)
    TESSERA_OPENCL_CODE(CL_BUILD_PROGRAM_FAILURE)
    TESSERA_OPENCL_CODE(CL_MAP_FAILURE)
    TESSERA_OPENCL_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    TESSERA_OPENCL_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    TESSERA_OPENCL_CODE(CL_COMPILE_PROGRAM_FAILURE)
    TESSERA_OPENCL_CODE(CL_LINKER_NOT_AVAILABLE)
    TESSERA_OPENCL_CODE(CL_LINK_PROGRAM_FAILURE)
    TESSERA_OPENCL_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    TESSERA_OPENCL_CODE(CL_INVALID_VALUE)
    TESSERA_OPENCL_CODE(CL_INVALID_DEVICE_TYPE)
    TESSERA_OPENCL_CODE(CL_INVALID_PLATFORM)
    TESSERA_OPENCL_CODE(CL_INVALID_DEVICE)
    TESSERA_OPENCL_CODE(CL_INVALID_CONTEXT)
    TESSERA_OPENCL_CODE(CL_INVALID_QUEUE_PROPERTIES)
    TESSERA_OPENCL_CODE(CL_INVALID_COMMAND_QUEUE)
    TESSERA_OPENCL_CODE(CL_INVALID_HOST_PTR)
    TESSERA_OPENCL_CODE(CL_INVALID_MEM_OBJECT)
    TESSERA_OPENCL_CODE(CL_INVALID_BINARY)
    TESSERA_OPENCL_CODE(CL_INVALID_BUILD_OPTIONS)
    TESSERA_OPENCL_CODE(CL_INVALID_PROGRAM)
    TESSERA_OPENCL_CODE(CL_INVALID_PROGRAM_EXECUTABLE)
    TESSERA_OPENCL_CODE(CL_INVALID_KERNEL_NAME)
    TESSERA_OPENCL_CODE(CL_INVALID_KERNEL_DEFINITION)
    TESSERA_OPENCL_CODE(CL_INVALID_KERNEL)
    TESSERA_OPENCL_CODE(CL_INVALID_ARG_INDEX)
    TESSERA_OPENCL_CODE(CL_INVALID_ARG_VALUE)
    TESSERA_OPENCL_CODE(CL_INVALID_ARG_SIZE)
    TESSERA_OPENCL_CODE(CL_INVALID_KERNEL_ARGS)
    TESSERA_OPENCL_CODE(CL_INVALID_WORK_DIMENSION)
    TESSERA_OPENCL_CODE(CL_INVALID_WORK_GROUP_SIZE)
    TESSERA_OPENCL_CODE(CL_INVALID_WORK_ITEM_SIZE)
    TESSERA_OPENCL_CODE(CL_INVALID_GLOBAL_OFFSET)
    TESSERA_OPENCL_CODE(CL_INVALID_EVENT_WAIT_LIST)
    TESSERA_OPENCL_CODE(CL_INVALID_EVENT)
    TESSERA_OPENCL_CODE(CL_INVALID_OPERATION)
    TESSERA_OPENCL_CODE(CL_INVALID_BUFFER_SIZE)
    TESSERA_OPENCL_CODE(CL_INVALID_GLOBAL_WORK_SIZE)
    TESSERA_OPENCL_CODE(CL_INVALID_PROPERTY)
    TESSERA_OPENCL_CODE(CL_INVALID_COMPILER_OPTIONS)
    TESSERA_OPENCL_CODE(CL_INVALID_LINKER_OPTIONS)
    case kPlatformNotFound: return "CL_PLATFORM_NOT_FOUND_KHR";
    case kNvidiaIllegalAccess: return "NVIDIA's code for an illegal read or write";
    default: return "OpenCL error " + std::to_string(native);
  }
#undef TESSERA_OPENCL_CODE
}

bool is_lost_code(cl_int native) noexcept {
  return native == CL_INVALID_CONTEXT || native == CL_INVALID_COMMAND_QUEUE || native == CL_DEVICE_NOT_AVAILABLE ||
         native == kNvidiaIllegalAccess;
}

bool is_shortage(cl_int native) noexcept {
  return native == CL_OUT_OF_HOST_MEMORY || native == CL_OUT_OF_RESOURCES || native == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

ErrorCode code_of(cl_int native, Stage stage) noexcept {
  if (stage == Stage::lost) return ErrorCode::device_lost;
  if (stage == Stage::rest) return is_shortage(native) ? ErrorCode::out_of_memory : ErrorCode::internal;
  switch (native) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY: return ErrorCode::out_of_memory;
    case CL_OUT_OF_RESOURCES:
      // Memory is taken when it is allocated (opencl_buffer.cpp), so a launch that is refused wants more registers or
      // local memory than there is. Anything else lacks memory, unless a command has crashed: then the stage is lost.
      return stage == Stage::launch ? ErrorCode::unsupported : ErrorCode::out_of_memory;
    case CL_INVALID_BUFFER_SIZE: return ErrorCode::out_of_memory;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_COMPILER_OPTIONS: return ErrorCode::build_failed;
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_LINKER_NOT_AVAILABLE:
    case CL_DEVICE_NOT_FOUND:
    case kPlatformNotFound: return ErrorCode::unavailable;
    case CL_DEVICE_NOT_AVAILABLE: return ErrorCode::unavailable;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE: return ErrorCode::invalid_argument;
    case CL_MISALIGNED_SUB_BUFFER_OFFSET: return ErrorCode::unsupported;
    default: return stage == Stage::build ? ErrorCode::build_failed : ErrorCode::internal;
  }
}

void throw_error(cl_int native, Stage stage, std::string sentence, std::string log) {
  throw Error(code_of(native, stage), std::move(sentence), {native, name_of(native)}, std::move(log));
}

void throw_failed_call(cl_int native, Stage stage, std::string_view call, std::string_view device) {
  std::string sentence = std::string(call) + " on '" + std::string(device) + "' fails with " + name_of(native);
  if (stage == Stage::lost) sentence = "a command has crashed the device: " + sentence;
  if (stage == Stage::execution && !is_shortage(native)) sentence = "a command fails on the device: " + sentence;
  if (stage == Stage::launch && native == CL_OUT_OF_RESOURCES) {
    sentence = "the kernel needs more registers or local memory than a work-group of this size can have: " + sentence;
  }
  throw_error(native, stage, std::move(sentence));
}

}  // namespace tessera::opencl
