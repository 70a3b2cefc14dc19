// Memory on a device between guard zones: whoever writes past an operand's ends, between its rows or over an input is
// found out, and whoever reads there reads a NaN.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::conformance {

/// The pattern that guard zones and outputs hold before a run: for float and double a quiet NaN with a payload that no
/// computation makes on its own, for integers 0xa5 in every byte.
template <class T>
[[nodiscard]] T poison();

/// A buffer with guard zones on both sides. What lies between, the content, starts `misalignment` elements behind an
/// aligned address.
template <class T>
class GuardedBuffer {
 public:
  /// `name` is the operand's in sentences. `content` is what reset() puts there. Errors as Device::allocate().
  GuardedBuffer(const Device& device, std::string name, std::vector<T> content, std::size_t misalignment);
  /// Other memory with the same content: reset() fills it.
  GuardedBuffer(const Device& device, const GuardedBuffer& like);

  [[nodiscard]] BufferView<T> view() const { return buffer_.view(front_, content_size_); }
  [[nodiscard]] std::size_t size() const { return content_size_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// What reset() puts between the guard zones.
  [[nodiscard]] std::span<const T> content() const { return content_of(*image_); }

  /// Uploads content and guards again. Asynchronous: this object must outlive it.
  void reset(Queue& queue) { queue.upload(buffer_, *image_); }
  /// Everything, guards included. Blocks.
  [[nodiscard]] std::vector<T> download(Queue& queue) const { return queue.download(buffer_).get(); }
  /// The content within what download() gave.
  [[nodiscard]] std::span<const T> content_of(const std::vector<T>& whole) const {
    return std::span<const T>(whole).subspan(front_, content_size_);
  }
  /// "" if the guard zones of what download() gave are as they were, else a sentence with the first change.
  [[nodiscard]] std::string find_damage(const std::vector<T>& whole) const;
  /// The same for the content, of which `may_change(index)` says where a change is allowed.
  template <class MayChange>
  [[nodiscard]] std::string find_change(const std::vector<T>& whole, MayChange may_change) const {
    if (is_unchanged(whole)) return "";
    for (std::size_t i = 0; i < content_size_; ++i) {
      if (!may_change(i) && differs(whole, front_ + i)) return describe_change(whole, front_ + i);
    }
    return "";
  }

 private:
  [[nodiscard]] bool is_unchanged(const std::vector<T>& whole) const;
  [[nodiscard]] bool differs(const std::vector<T>& whole, std::size_t index) const;
  [[nodiscard]] std::string describe_change(const std::vector<T>& whole, std::size_t index) const;

  std::string name_;
  std::size_t front_ = 0;
  std::size_t content_size_ = 0;
  std::shared_ptr<const std::vector<T>> image_;  // what reset() uploads
  Buffer<T> buffer_;
};

extern template class GuardedBuffer<float>;
extern template class GuardedBuffer<double>;
extern template class GuardedBuffer<std::uint8_t>;
extern template class GuardedBuffer<std::int16_t>;
extern template class GuardedBuffer<std::uint16_t>;
extern template class GuardedBuffer<std::int32_t>;
extern template class GuardedBuffer<std::int64_t>;

}  // namespace tessera::conformance
