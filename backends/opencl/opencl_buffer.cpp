// Allocates, cuts and frees memory.
#include "opencl_buffer.h"

#include <string>
#include <utility>

namespace tessera::opencl {

namespace {

[[noreturn]] void throw_no_memory(const OpenclContext& context, std::size_t size_bytes, cl_int code) {
  // A device that has crashed has no memory left either, but nothing that the caller gives back would help.
  throw_error(code, context.is_lost() ? Stage::lost : Stage::allocation,
              "'" + context.device_name() + "' has no " + std::to_string(size_bytes) + " bytes left for a buffer");
}

Handle<cl_mem> create(const OpenclContext& context, cl_mem_flags flags, std::size_t size_bytes,
                      const void* contents = nullptr) {
  const std::uint64_t limit = context.facts().info.max_allocation_bytes;
  if (size_bytes > limit) {
    throw_error(CL_INVALID_BUFFER_SIZE, Stage::allocation,
                "a buffer of " + std::to_string(size_bytes) + " bytes is larger than '" + context.device_name() +
                    "' allows, which is " + std::to_string(limit) + " bytes");
  }
  cl_int code = CL_SUCCESS;
  Handle<cl_mem> memory(
      context.api().clCreateBuffer(context.native(), flags, size_bytes, const_cast<void*>(contents), &code),
      context.api().clReleaseMemObject);
  if (code != CL_SUCCESS) throw_no_memory(context, size_bytes, code);
  return memory;
}

}  // namespace

OpenclBuffer::OpenclBuffer(std::shared_ptr<OpenclContext> context, std::size_t size_bytes)
    : context_(std::move(context)), memory_(create(*context_, CL_MEM_READ_WRITE, size_bytes)) {
  occupy(size_bytes, std::byte{0});
}

OpenclBuffer::OpenclBuffer(std::shared_ptr<OpenclContext> context, std::span<const std::byte> contents)
    : context_(std::move(context)),
      memory_(create(*context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, contents.size(), contents.data())) {
  occupy(contents.size(), contents.back());
}

void OpenclBuffer::occupy(std::size_t size_bytes, std::byte last) const {
  // Drivers take the memory when a command first uses it. One byte written here makes them do it now, while the caller
  // can still give something back.
  const OpenclApi& api = context_->api();
  const cl_command_queue queue = context_->service_queue();
  cl_int code = api.clEnqueueWriteBuffer(queue, native(), CL_TRUE, size_bytes - 1, 1, &last, 0, nullptr, nullptr);
  // A blocking write may return when it has read the byte, before it has written it. On Intel's runtime for CPUs the
  // byte arrives, once in a thousand times, after what another queue writes there next. So the queue is finished.
  if (code == CL_SUCCESS) code = ask_again([&] { return api.clFinish(queue); });
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
  context.check(code, "clCreateSubBuffer", Stage::allocation);
  return part;
}

OpenclPinnedMemory::OpenclPinnedMemory(std::shared_ptr<OpenclContext> context, std::size_t size_bytes)
    : context_(std::move(context)), memory_(create(*context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size_bytes)) {
  cl_int code = CL_SUCCESS;
  data_ = context_->api().clEnqueueMapBuffer(context_->service_queue(), memory_.get(), CL_TRUE,
                                             CL_MAP_READ | CL_MAP_WRITE, 0, size_bytes, 0, nullptr, nullptr, &code);
  context_->check(code, "clEnqueueMapBuffer", Stage::allocation);
  // The mapping must be complete before other queues copy from and to this memory.
  code = ask_again([&] { return context_->api().clFinish(context_->service_queue()); });
  if (code == CL_SUCCESS) return;
  unmap();
  context_->check(code, "clFinish", Stage::allocation);
}

OpenclPinnedMemory::~OpenclPinnedMemory() {
  unmap();
}

void OpenclPinnedMemory::unmap() const noexcept {
  // No command uses the memory any more. If the driver refuses to unmap it for good, the memory object is released
  // while it is mapped, and the mapping goes with it.
  const OpenclApi& api = context_->api();
  const cl_command_queue queue = context_->service_queue();
  (void)ask_again([&] { return api.clEnqueueUnmapMemObject(queue, memory_.get(), data_, 0, nullptr, nullptr); });
  // Without this, drivers that begin commands only at a flush would keep the memory.
  (void)ask_again([&] { return api.clFinish(queue); });
}

}  // namespace tessera::opencl
