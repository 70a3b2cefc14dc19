// Memory on a device: Buffer<T> owns it, BufferView<T> is part of it, PinnedBuffer<T> is host memory that a device
// copies from and to at full speed. Moving bytes is the queue's business (queue.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/error.h>
#include <tessera/export.h>
#include <tessera/types.h>

namespace tessera {

namespace detail {
class Block;        // device memory with its owner and its uses; lives in the core
class PinnedBlock;  // host memory known to a device's driver
}  // namespace detail

/// Part of a device's memory with an element type that is known at run time only, for programs that learn the type when
/// they run. Operators and every transfer of a queue take it. untyped() of Buffer<T> and BufferView<T> gives one, and
/// both can be made from one whose elements are of type T. Shares ownership of the memory: a view never dangles.
class TESSERA_API UntypedView {
 public:
  UntypedView() noexcept;
  UntypedView(std::shared_ptr<detail::Block> block, DataType type, std::size_t offset_bytes, std::size_t count,
              bool writable) noexcept;

  /// False for a view of nothing: never allocated, moved from or reset.
  [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }
  [[nodiscard]] DataType type() const noexcept { return type_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return count_ * tessera::size_bytes(type_); }
  [[nodiscard]] std::size_t offset_bytes() const noexcept { return offset_bytes_; }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  /// The part from `first` on, `count` elements long. Error invalid_argument if it reaches past the end.
  [[nodiscard]] UntypedView part(std::size_t first, std::size_t count) const;
  /// The same memory, read-only.
  [[nodiscard]] UntypedView as_const() const;
  /// The name of the device that holds it, "" for a view of nothing.
  [[nodiscard]] std::string device_name() const;
  [[nodiscard]] const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }

 private:
  std::shared_ptr<detail::Block> block_;
  std::size_t offset_bytes_ = 0;
  std::size_t count_ = 0;
  DataType type_ = DataType::uint8;
  bool writable_ = false;
};

namespace detail {
/// `view` for whoever reads elements of `type`, and writes them if `writes`. Error invalid_argument if it holds
/// elements of another type, or is read-only and would be written. A view of nothing is of every type.
[[nodiscard]] TESSERA_API UntypedView typed(UntypedView view, DataType type, bool writes);
}  // namespace detail

/// Part of a buffer. Cheap to copy; keeps the memory alive. `BufferView<const T>` cannot be written through.
template <class T>
class BufferView {
 public:
  using value_type = std::remove_const_t<T>;

  BufferView() = default;
  /// A writable view is a read-only one as well.
  template <class U>
  requires(std::is_const_v<T>&& std::is_same_v<U, value_type>)
      BufferView(const BufferView<U>& other)  // NOLINT(google-explicit-constructor)
      : view_(other.untyped().as_const()) {}

  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return view_.size_bytes(); }
  /// The part from `first` on, `count` elements long. Error invalid_argument if it reaches past the end.
  [[nodiscard]] BufferView part(std::size_t first, std::size_t count) const {
    return BufferView(view_.part(first, count));
  }
  [[nodiscard]] const UntypedView& untyped() const noexcept { return view_; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(view_); }

  /// Of a view with elements of T, or of nothing. Error invalid_argument, with both types, for elements of another
  /// type, and for a read-only view unless T is const.
  explicit BufferView(UntypedView view) : view_(detail::typed(std::move(view), data_type_of<T>, !std::is_const_v<T>)) {}

 private:
  UntypedView view_;
};

/// Memory on one device, `size()` elements of T, uninitialised until written. Move-only; freed into the device's cache
/// when the last buffer or view of it goes, once every queue that used it is past its last use.
template <class T>
class Buffer {
  static_assert(!std::is_const_v<T>, "a Buffer owns its elements; take a BufferView<const T> to read only");

 public:
  using value_type = T;

  /// Holds nothing; using it is an invalid_argument that names the operand.
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  Buffer& operator=(Buffer&& other) noexcept {
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  [[nodiscard]] std::size_t size() const noexcept { return view_.size(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return view_.size_bytes(); }
  /// Gives the memory back early.
  void reset() noexcept { view_ = {}; }
  /// All of it.
  [[nodiscard]] BufferView<T> view() const { return BufferView<T>(view_); }
  /// Elements [first, first + count). Error invalid_argument if that reaches past the end.
  [[nodiscard]] BufferView<T> view(std::size_t first, std::size_t count) const {
    return BufferView<T>(view_.part(first, count));
  }
  operator BufferView<T>() const { return view(); }        // NOLINT(google-explicit-constructor)
  operator BufferView<const T>() const { return view(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const UntypedView& untyped() const noexcept { return view_; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(view_); }

  /// Takes over a view of elements of T, or of nothing. Errors as for BufferView.
  explicit Buffer(UntypedView view) : view_(detail::typed(std::move(view), data_type_of<T>, true)) {}

 private:
  UntypedView view_;
};

/// An operand that the operator only reads.
class ConstOperand {
 public:
  ConstOperand() = default;
  template <class T>
  ConstOperand(const Buffer<T>& buffer) : view_(buffer.untyped().as_const()) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  ConstOperand(const BufferView<T>& view) : view_(view.untyped().as_const()) {}  // NOLINT(google-explicit-constructor)
  ConstOperand(const UntypedView& view) : view_(view.as_const()) {}              // NOLINT(google-explicit-constructor)
  [[nodiscard]] const UntypedView& view() const noexcept { return view_; }

 private:
  UntypedView view_;
};

/// An operand that the operator writes. A BufferView<const T> does not convert to it.
class Operand {
 public:
  Operand() = default;
  template <class T>
  Operand(const Buffer<T>& buffer) : view_(buffer.untyped()) {}  // NOLINT(google-explicit-constructor)
  template <class T>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires(!std::is_const_v<T>) Operand(const BufferView<T>& view) : view_(view.untyped()) {}
  Operand(const UntypedView& view) : view_(view) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const UntypedView& view() const noexcept { return view_; }

 private:
  UntypedView view_;
};

namespace detail {
/// Untyped host memory behind PinnedBuffer.
class TESSERA_API PinnedMemory {
 public:
  PinnedMemory() noexcept;
  explicit PinnedMemory(std::shared_ptr<PinnedBlock> block) noexcept;
  [[nodiscard]] void* data() const noexcept;
  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] const std::shared_ptr<PinnedBlock>& block() const noexcept { return block_; }

 private:
  std::shared_ptr<PinnedBlock> block_;
};
}  // namespace detail

/// Host memory that the driver of one device knows (page-locked on a GPU), so that copies run at full speed and truly
/// asynchronously. An ordinary span of memory to the program. Queues keep it alive while they copy.
template <class T>
class PinnedBuffer {
 public:
  using value_type = T;

  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    memory_ = std::exchange(other.memory_, {});
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() = default;

  [[nodiscard]] std::span<T> span() const noexcept { return {data(), size()}; }
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return memory_.size_bytes() / sizeof(T); }
  [[nodiscard]] T& operator[](std::size_t index) const { return data()[index]; }
  [[nodiscard]] T* begin() const noexcept { return data(); }
  [[nodiscard]] T* end() const noexcept { return data() + size(); }
  [[nodiscard]] const detail::PinnedMemory& memory() const noexcept { return memory_; }

  /// For the library.
  explicit PinnedBuffer(detail::PinnedMemory memory) : memory_(std::move(memory)) {}

 private:
  detail::PinnedMemory memory_;
};

}  // namespace tessera
