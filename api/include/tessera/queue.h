// Queues: ordered, asynchronous work on one device; and events: points on a queue to wait for or to measure between.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/buffer.h>
#include <tessera/device.h>
#include <tessera/error.h>
#include <tessera/export.h>
#include <tessera/kernel.h>
#include <tessera/launch_facts.h>
#include <tessera/own_kernel.h>
#include <tessera/prepared_weights.h>

namespace tessera {

namespace detail {
class QueueCore;
class EventCore;
}  // namespace detail

/// A point on a queue. Cheap to copy.
class TESSERA_API Event {
 public:
  /// Blocks until everything queued before the event is done. Throws the queue's first error if one of it failed.
  void wait() const;
  /// True once it is done. Does not block. Throws as wait() does.
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] const std::shared_ptr<detail::EventCore>& core() const noexcept { return core_; }

  /// For the library.
  explicit Event(std::shared_ptr<detail::EventCore> core) noexcept : core_(std::move(core)) {}

 private:
  std::shared_ptr<detail::EventCore> core_;
};

/// Seconds of the device's clock from one event to a later one of the same device. Waits for both.
[[nodiscard]] TESSERA_API double seconds_between(const Event& start, const Event& stop);

/// Host memory that a queue fills. Owns the elements, so there is nothing that could die too early.
template <class T>
class Download {
 public:
  /// Waits until the copy is done and gives the elements away; call it once.
  [[nodiscard]] std::vector<T> get() {
    done_.wait();
    return std::move(*elements_);
  }
  [[nodiscard]] bool is_done() const { return done_.is_done(); }

  /// For the library.
  Download(std::shared_ptr<std::vector<T>> elements, Event done)
      : elements_(std::move(elements)), done_(std::move(done)) {}

 private:
  std::shared_ptr<std::vector<T>> elements_;
  Event done_;
};

namespace detail {
template <class T>
inline constexpr bool kIsPinned = false;
template <class T>
inline constexpr bool kIsPinned<PinnedBuffer<T>> = true;

/// The program's own memory, borrowed for a transfer: a span, or a container that lives on.
template <class Range>
concept BorrowedElements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::ranges::borrowed_range<Range> && !kIsPinned<std::remove_cvref_t<Range>>;

/// Error invalid_argument if the view does not hold elements of `host`, as the host's memory does, or is read-only.
TESSERA_API void check_upload(const UntypedView& destination, DataType host);
/// Error invalid_argument if the view does not hold elements of `host`, as the host's memory does.
TESSERA_API void check_download(const UntypedView& source, DataType host);
/// Error invalid_argument if the view does not hold elements of `value`, or is read-only.
TESSERA_API void check_fill(const UntypedView& destination, DataType value);
/// Error invalid_argument if the views hold elements of two types, or the destination is read-only.
TESSERA_API void check_copy(const UntypedView& destination, const UntypedView& source);
}  // namespace detail

struct QueueOptions {
  std::string label = {};  ///< named in errors
};

/// An ordered line of work on one device, which runs in the order of the calls. Calls do not wait for the work that
/// they queue; finish() does. Copies from and to memory that is not pinned may take until the driver has read or
/// written it. Used by one thread at a time; several queues may share kernels, prepared weights and buffers.
/// The destructor waits for the work and reports nothing: call finish() to learn of errors.
///
/// Lifetimes: buffers, kernels and pinned memory are kept alive by the queue. Ordinary host memory passed as an lvalue
/// is borrowed until the queue is past the copy (finish(), or an event recorded after it); a vector passed by
/// std::move() is taken over; a temporary that would dangle does not compile. Because the destructor waits, memory that
/// was declared before the queue is always safe.
///
/// Errors: wrong arguments throw at once and leave the queue as it was. A command that fails on the device poisons the
/// queue: the next wait throws the first error with the label of the command, and so does every later call.
class TESSERA_API Queue {
 public:
  explicit Queue(const Device& device, const QueueOptions& options = {});
  Queue(Queue&&) noexcept;
  Queue& operator=(Queue&&) noexcept;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  /// Copies host memory into a buffer or view of the same length. Borrows `host` until the queue is past it.
  template <class Destination>
  void upload(const Destination& destination, std::span<const typename Destination::value_type> host) {
    upload_bytes(checked_destination(destination), host.data(), host.size(), nullptr);
  }
  /// The same, taking the vector over.
  template <class Destination>
  void upload(const Destination& destination, std::vector<typename Destination::value_type>&& host) {
    auto kept = take_over(std::move(host));
    upload_bytes(checked_destination(destination), kept->data(), kept->size(), kept);
  }
  /// The same from pinned memory: the fast way, and the queue keeps the memory alive.
  template <class Destination>
  void upload(const Destination& destination, const PinnedBuffer<typename Destination::value_type>& host) {
    upload_bytes(checked_destination(destination), host.data(), host.size(), host.memory().block());
  }
  /// The same three for a view whose type is known at run time: it must be that of the host's elements.
  template <detail::BorrowedElements Range>
  void upload(const UntypedView& destination, Range&& host) {
    detail::check_upload(destination, data_type_of<std::ranges::range_value_t<Range>>);
    upload_bytes(destination, std::ranges::data(host), std::ranges::size(host), nullptr);
  }
  template <class T>
  void upload(const UntypedView& destination, std::vector<T>&& host) {
    detail::check_upload(destination, data_type_of<T>);
    auto kept = take_over(std::move(host));
    upload_bytes(destination, kept->data(), kept->size(), kept);
  }
  template <class T>
  void upload(const UntypedView& destination, const PinnedBuffer<T>& host) {
    detail::check_upload(destination, data_type_of<T>);
    upload_bytes(destination, host.data(), host.size(), host.memory().block());
  }
  /// A temporary would be gone before it is read.
  template <class Destination, class Range>
  requires(std::ranges::contiguous_range<Range> && !std::ranges::borrowed_range<Range> &&
           !std::is_lvalue_reference_v<Range>) void upload(const Destination& destination, Range&& host) = delete;

  /// Copies a buffer or view into host memory of the same length, which must live until the queue is past it.
  template <class Source>
  void download(const Source& source, std::span<typename Source::value_type> host) {
    download_bytes(source.untyped(), host.data(), host.size(), nullptr);
  }
  /// The same into pinned memory: the fast way, and the queue keeps the memory alive.
  template <class Source>
  void download(const Source& source, const PinnedBuffer<typename Source::value_type>& host) {
    download_bytes(source.untyped(), host.data(), host.size(), host.memory().block());
  }
  /// The same into memory of its own: `std::vector<float> c = queue.download(buffer).get();`
  template <class Source>
  [[nodiscard]] Download<typename Source::value_type> download(const Source& source) {
    return download_elements<typename Source::value_type>(source.untyped());
  }
  /// The same three for a view whose type is known at run time: it must be that of the host's elements.
  /// `std::vector<float> c = queue.download<float>(view).get();`
  template <detail::BorrowedElements Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) void download(
      const UntypedView& source, Range&& host) {
    detail::check_download(source, data_type_of<std::ranges::range_value_t<Range>>);
    download_bytes(source, std::ranges::data(host), std::ranges::size(host), nullptr);
  }
  template <class T>
  void download(const UntypedView& source, const PinnedBuffer<T>& host) {
    detail::check_download(source, data_type_of<T>);
    download_bytes(source, host.data(), host.size(), host.memory().block());
  }
  template <class T>
  [[nodiscard]] Download<T> download(const UntypedView& source) {
    detail::check_download(source, data_type_of<T>);
    return download_elements<T>(source);
  }

  /// Sets every element to `value`.
  template <class Destination>
  void fill(const Destination& destination, typename Destination::value_type value) {
    fill_bytes(checked_destination(destination), &value);
  }
  /// The same for a view whose type is known at run time: it must be exactly that of `value`.
  template <class T>
  requires std::is_arithmetic_v<T>
  void fill(const UntypedView& destination, T value) {
    detail::check_fill(destination, data_type_of<T>);
    fill_bytes(destination, &value);
  }

  /// Copies between buffers of equal length and type. The destination is on this queue's device. The source may be on
  /// any device of any backend: then the bytes go through pinned host memory, the call blocks until the source has been
  /// read, and what was queued elsewhere to write the source must be done: wait for its event first.
  template <class Destination, class Source>
  void copy(const Destination& destination, const Source& source) {
    static_assert(std::is_same_v<typename Destination::value_type, typename Source::value_type>,
                  "copy() does not convert element types");
    copy_bytes(checked_destination(destination), source.untyped());
  }

  /// The same where the type of one or both is known at run time.
  void copy(const UntypedView& destination, const UntypedView& source) {
    detail::check_copy(destination, source);
    copy_bytes(destination, source);
  }
  template <class Source>
  void copy(const UntypedView& destination, const Source& source) {
    copy(destination, source.untyped());
  }
  template <class Destination>
  void copy(const Destination& destination, const UntypedView& source) {
    copy(checked_destination(destination), source);
  }

  /// Runs an operator: `queue.run(gemm, {.a = a, .b = b, .c = c})`. Every operand is checked before anything is queued.
  template <class Problem>
  void run(const OperatorKernel<Problem>& kernel, const typename Problem::Operands& operands);

  /// Brings weights into the form that the kernel computes with, to be used by many runs:
  /// `auto prepared = queue.prepare_weights(layer, weights); queue.run(layer, {..., .weights = prepared, ...});`
  /// Operators that take a WeightsOperand have it. The result has memory of its own; `weights` may be changed once the
  /// queue is past it. Errors: as run(), and out_of_memory.
  template <class Problem>
  [[nodiscard]] PreparedWeights prepare_weights(const OperatorKernel<Problem>& kernel, const ConstOperand& weights);

  /// Runs an own kernel: `queue.launch(saxpy, {.groups = {n / 64}, .group_size = {64}}, x, y, 2.0F)`. Arguments are
  /// buffers, views, numbers of exactly the declared type, and local_memory<T>(count). On OpenCL a view must begin at a
  /// multiple of what the device aligns memory to (unsupported otherwise, with the number): 128 to 512 bytes.
  template <class... Args>
  void launch(const OwnKernel& kernel, const LaunchShape& shape, const Args&... args) {
    const std::array<detail::LaunchArgument, sizeof...(Args)> list{detail::LaunchArgument(args)...};
    launch_arguments(kernel, shape, list);
  }

  /// A point after everything queued so far.
  [[nodiscard]] Event record();
  /// What is queued from here on runs after the event, which is of any queue of the same device. Does not block.
  void wait(const Event& event);
  /// Blocks until everything queued is done. Throws the first error of the queue.
  void finish();

  /// Notes from here on which kernel functions are launched, with what the driver says of each: for benchmarks, because
  /// it takes time. watched_launches() gives the notes and ends it. Devices without a driver's compiler (cpu:0) and
  /// libraries of others have nothing to tell, so there may be none.
  void watch_launches();
  [[nodiscard]] std::vector<LaunchFacts> watched_launches();

  [[nodiscard]] const std::shared_ptr<detail::QueueCore>& core() const noexcept { return core_; }

 private:
  template <class Destination>
  [[nodiscard]] static const UntypedView& checked_destination(const Destination& destination) {
    static_assert(!std::is_same_v<Destination, BufferView<const typename Destination::value_type>>,
                  "a BufferView<const T> cannot be written");
    return destination.untyped();
  }
  /// A vector that the queue keeps alive.
  template <class T>
  [[nodiscard]] static std::shared_ptr<std::vector<T>> take_over(std::vector<T>&& elements) {
    return detail::host_memory("a note of an upload", sizeof(elements),
                               [&] { return std::make_shared<std::vector<T>>(std::move(elements)); });
  }
  template <class T>
  [[nodiscard]] Download<T> download_elements(const UntypedView& source) {
    auto elements = detail::host_memory("a download", source.size_bytes(),
                                        [&] { return std::make_shared<std::vector<T>>(source.size()); });
    download_bytes(source, elements->data(), elements->size(), elements);
    return {elements, record()};
  }
  void upload_bytes(const UntypedView& destination, const void* host, std::size_t count, std::shared_ptr<void> keep);
  void download_bytes(const UntypedView& source, void* host, std::size_t count, std::shared_ptr<void> keep);
  void fill_bytes(const UntypedView& destination, const void* value);
  void copy_bytes(const UntypedView& destination, const UntypedView& source);
  void launch_arguments(const OwnKernel& kernel, const LaunchShape& shape,
                        std::span<const detail::LaunchArgument> arguments);

  std::shared_ptr<detail::QueueCore> core_;
};

}  // namespace tessera
