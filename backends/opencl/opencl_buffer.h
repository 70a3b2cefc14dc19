// Memory: a buffer on the device, and host memory that the driver has pinned.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backend/backend.h"
#include "opencl_context.h"

namespace tessera::opencl {

class OpenclBuffer final : public backend::Buffer {
 public:
  /// Takes the memory at once, although OpenCL alone would wait for the first use. Nothing works on it any more when
  /// this returns, so that any queue may.
  OpenclBuffer(std::shared_ptr<OpenclContext> context, std::size_t size_bytes);
  /// The same with a copy of `contents`, at least a byte. When this returns or throws, nothing reads them any more.
  OpenclBuffer(std::shared_ptr<OpenclContext> context, std::span<const std::byte> contents);

  [[nodiscard]] cl_mem native() const noexcept { return memory_.get(); }

 private:
  /// Makes the driver take the memory: writes its last byte, and waits for that.
  void occupy(std::size_t size_bytes, std::byte last) const;

  std::shared_ptr<OpenclContext> context_;
  Handle<cl_mem> memory_;
};

/// The memory object behind a slice, null for a slice of nothing.
[[nodiscard]] inline cl_mem native(const backend::Slice& slice) noexcept {
  return slice.buffer == nullptr ? nullptr : static_cast<const OpenclBuffer*>(slice.buffer)->native();
}

/// A memory object that begins where the slice does. By the standard it may be released while a command that was given
/// it still runs: commands hold on to their memory, and a part to its whole. Empty for a slice that begins where its
/// buffer does: then the buffer itself serves. Throws unsupported, naming the alignment, if the device cannot start one
/// there.
[[nodiscard]] Handle<cl_mem> sub_buffer(const OpenclContext& context, const backend::Slice& slice);

class OpenclPinnedMemory final : public backend::PinnedMemory {
 public:
  OpenclPinnedMemory(std::shared_ptr<OpenclContext> context, std::size_t size_bytes);
  ~OpenclPinnedMemory() override;
  OpenclPinnedMemory(const OpenclPinnedMemory&) = delete;
  OpenclPinnedMemory& operator=(const OpenclPinnedMemory&) = delete;

  [[nodiscard]] void* data() const noexcept override { return data_; }

 private:
  void unmap() const noexcept;

  std::shared_ptr<OpenclContext> context_;
  Handle<cl_mem> memory_;
  void* data_ = nullptr;
};

}  // namespace tessera::opencl
