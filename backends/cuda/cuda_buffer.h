// Memory of the card and page-locked memory of the host.
#pragma once

#include <cstddef>
#include <memory>

#include "backend/backend.h"
#include "cuda_context.h"

namespace tessera::cuda {

class CudaBuffer final : public backend::Buffer {
 public:
  CudaBuffer(std::shared_ptr<Context> context, std::size_t size_bytes);
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() override;

  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  std::shared_ptr<Context> context_;
  CUdeviceptr address_ = 0;
};

/// Where a slice begins on the card; 0 for a slice of nothing.
[[nodiscard]] inline CUdeviceptr address_of(const backend::Slice& slice) noexcept {
  if (slice.buffer == nullptr) return 0;
  return static_cast<const CudaBuffer*>(slice.buffer)->address() + slice.offset_bytes;
}

/// The same as the pointer that a kernel takes.
template <class T>
[[nodiscard]] T* pointer_to(const backend::Slice& slice) noexcept {
  return reinterpret_cast<T*>(address_of(slice));
}

/// Part of a slice, which is of type T from there on.
template <class T>
[[nodiscard]] T* pointer_at(const backend::Slice& slice, std::size_t offset_bytes) noexcept {
  return reinterpret_cast<T*>(address_of(slice) + offset_bytes);
}

class CudaPinnedMemory final : public backend::PinnedMemory {
 public:
  CudaPinnedMemory(std::shared_ptr<Context> context, std::size_t size_bytes);
  CudaPinnedMemory(const CudaPinnedMemory&) = delete;
  CudaPinnedMemory& operator=(const CudaPinnedMemory&) = delete;
  ~CudaPinnedMemory() override;

  [[nodiscard]] void* data() const noexcept override { return data_; }

 private:
  std::shared_ptr<Context> context_;
  void* data_ = nullptr;
};

}  // namespace tessera::cuda
