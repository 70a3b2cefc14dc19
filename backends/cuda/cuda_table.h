// Numbers that a kernel keeps on the card, as the weights of a filter: written once, when the kernel is made.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cuda_buffer.h"
#include "cuda_device.h"

namespace tessera::cuda {

class CudaTable {
 public:
  /// Copies `numbers`, at least one, to the card and waits for that.
  template <class T>
  CudaTable(CudaDevice& device, const std::vector<T>& numbers) : CudaTable(device, std::as_bytes(std::span(numbers))) {}
  CudaTable(CudaDevice& device, std::span<const std::byte> bytes);

  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  /// Where it begins on the card, as the pointer that a kernel takes.
  template <class T>
  [[nodiscard]] const T* begin() const noexcept {
    return pointer_to<const T>({memory_.get(), 0, size_bytes_});
  }

 private:
  std::unique_ptr<backend::Buffer> memory_;
  std::size_t size_bytes_;
};

}  // namespace tessera::cuda
