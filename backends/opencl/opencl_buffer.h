// Memory: a buffer on the device, and host memory that the driver has pinned.
#pragma once

#include <cstddef>
#include <memory>

#include "backend/backend.h"
#include "opencl_context.h"

namespace tessera::opencl {

class OpenclBuffer final : public backend::Buffer {
 public:
  /// Takes the memory at once, although OpenCL alone would wait for the first use.
  OpenclBuffer(std::shared_ptr<OpenclContext> context, std::size_t size_bytes);

  [[nodiscard]] cl_mem native() const noexcept { return memory_.get(); }

 private:
  std::shared_ptr<OpenclContext> context_;
  Handle<cl_mem> memory_;
};

/// The memory object behind a slice, null for a slice of nothing.
[[nodiscard]] inline cl_mem native(const backend::Slice& slice) noexcept {
  return slice.buffer == nullptr ? nullptr : static_cast<const OpenclBuffer*>(slice.buffer)->native();
}

/// A memory object that begins where the slice does. Empty for a slice that begins where its buffer does: then the
/// buffer itself serves. Throws unsupported, naming the alignment, if the device cannot start one there.
[[nodiscard]] Handle<cl_mem> sub_buffer(const OpenclContext& context, const backend::Slice& slice);

class OpenclPinnedMemory final : public backend::PinnedMemory {
 public:
  OpenclPinnedMemory(std::shared_ptr<OpenclContext> context, std::size_t size_bytes);
  ~OpenclPinnedMemory() override;
  OpenclPinnedMemory(const OpenclPinnedMemory&) = delete;
  OpenclPinnedMemory& operator=(const OpenclPinnedMemory&) = delete;

  [[nodiscard]] void* data() const noexcept override { return data_; }

 private:
  std::shared_ptr<OpenclContext> context_;
  Handle<cl_mem> memory_;
  void* data_ = nullptr;
};

}  // namespace tessera::opencl
