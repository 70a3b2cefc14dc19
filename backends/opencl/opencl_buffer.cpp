// Allocates, cuts and frees memory.
#include "opencl_buffer.h"

#include <string>
#include <utility>

namespace tessera::opencl {

namespace {

[[noreturn]] void throw_no_memory(const OpenclContext& context, std::size_t size_bytes, cl_int code) {
  // A device that has crashed has no memory left either, but nothing that the caller gives back would help.
  context.check(context.api().clFinish(context.service_queue()), "clFinish", Stage::execution);
  throw_error(code, Stage::allocation,
              "'" + context.device_name() + "' has no " + std::to_string(size_bytes) + " bytes left for a buffer");
}

Handle<cl_mem> create(const OpenclContext& context, cl_mem_flags flags, std::size_t size_bytes) {
  const std::uint64_t limit = context.facts().info.max_allocation_bytes;
  if (size_bytes > limit) {
    throw_error(CL_INVALID_BUFFER_SIZE, Stage::allocation,
                "a buffer of " + std::to_string(size_bytes) + " bytes is larger than '" + context.device_name() +
                    "' allows, which is " + std::to_string(limit) + " bytes");
  }
  cl_int code = CL_SUCCESS;
  Handle<cl_mem> memory(context.api().clCreateBuffer(context.native(), flags, size_bytes, nullptr, &code),
                        context.api().clReleaseMemObject);
  if (code != CL_SUCCESS) throw_no_memory(context, size_bytes, code);
  return memory;
}

}  // namespace

OpenclBuffer::OpenclBuffer(std::shared_ptr<OpenclContext> context, std::size_t size_bytes)
    : context_(std::move(context)), memory_(create(*context_, CL_MEM_READ_WRITE, size_bytes)) {
  // Drivers take the memory when a command first uses it. One byte written here makes them do it now, while the caller
  // can still give something back.
  const OpenclApi& api = context_->api();
  const unsigned char zero = 0;
  const cl_int code = api.clEnqueueWriteBuffer(context_->service_queue(), native(), CL_TRUE, size_bytes - 1, 1, &zero,
                                               0, nullptr, nullptr);
  if (code != CL_SUCCESS) throw_no_memory(*context_, size_bytes, code);
}

Handle<cl_mem> sub_buffer(const OpenclContext& context, const backend::Slice& slice) {
  if (slice.offset_bytes == 0 || slice.size_bytes == 0) return {};
  const std::uint64_t alignment = context.facts().base_alignment_bytes;
  if (slice.offset_bytes % alignment != 0) {
    throw Error(ErrorCode::unsupported, "a view that starts at byte " + std::to_string(slice.offset_bytes) +
                                            " of its buffer cannot be passed to an own kernel on '" +
                                            context.device_name() + "': the start must be a multiple of " +
                                            std::to_string(alignment) + " bytes");
  }
  const cl_buffer_region region{slice.offset_bytes, slice.size_bytes};
  cl_int code = CL_SUCCESS;
  Handle<cl_mem> part(
      context.api().clCreateSubBuffer(native(slice), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code),
      context.api().clReleaseMemObject);
  context.check(code, "clCreateSubBuffer");
  return part;
}

OpenclPinnedMemory::OpenclPinnedMemory(std::shared_ptr<OpenclContext> context, std::size_t size_bytes)
    : context_(std::move(context)), memory_(create(*context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size_bytes)) {
  cl_int code = CL_SUCCESS;
  data_ = context_->api().clEnqueueMapBuffer(context_->service_queue(), memory_.get(), CL_TRUE,
                                             CL_MAP_READ | CL_MAP_WRITE, 0, size_bytes, 0, nullptr, nullptr, &code);
  context_->check(code, "clEnqueueMapBuffer", Stage::allocation);
}

OpenclPinnedMemory::~OpenclPinnedMemory() {
  const OpenclApi& api = context_->api();
  if (data_ == nullptr) return;
  (void)api.clEnqueueUnmapMemObject(context_->service_queue(), memory_.get(), data_, 0, nullptr, nullptr);
  (void)api.clFinish(context_->service_queue());
}

}  // namespace tessera::opencl
