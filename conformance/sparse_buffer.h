// Operands of more than 2^31 elements: one value everywhere, filled in by the device itself, and a few windows that
// hold something else. Only the windows ever pass through the host.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// What a sparse buffer holds.
template <class T>
struct SparseContent {
  struct Window {
    std::size_t first = 0;
    std::vector<T> values;
  };
  std::size_t size = 0;
  T background{};
  std::vector<Window> windows;

  [[nodiscard]] std::uint64_t size_bytes() const { return std::uint64_t{size} * sizeof(T); }
};

template <class T>
class SparseBuffer {
 public:
  /// `content` must outlive the buffer. Errors as Device::allocate().
  SparseBuffer(const Device& device, const std::string& label, const SparseContent<T>& content)
      : content_(&content), buffer_(device.allocate<T>(content.size, {.label = label})) {}

  [[nodiscard]] BufferView<T> view(std::size_t first, std::size_t count) const { return buffer_.view(first, count); }
  /// Puts background and windows there again. Asynchronous.
  void reset(Queue& queue) const {
    queue.fill(buffer_, content_->background);
    for (const auto& window : content_->windows) {
      queue.upload(buffer_.view(window.first, window.values.size()), window.values);
    }
  }
  /// Elements [first, first + count) as they are now. Blocks.
  [[nodiscard]] std::vector<T> read(Queue& queue, std::size_t first, std::size_t count) const {
    return queue.download(buffer_.view(first, count)).get();
  }

 private:
  const SparseContent<T>* content_;
  Buffer<T> buffer_;
};

}  // namespace tessera::conformance
