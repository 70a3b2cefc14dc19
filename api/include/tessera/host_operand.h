// Operands in the host's memory, for stream(): ranges of elements that it reads and writes while it runs.
#pragma once

#include <cstddef>
#include <ranges>
#include <type_traits>

#include <tessera/types.h>

namespace tessera {

namespace detail {

/// What an operand in the host's memory is, to the library.
struct HostMemory {
  const void* data = nullptr;
  std::size_t count = 0;  ///< of elements
  DataType type = DataType::uint8;
  bool is_there = false;
};

template <class Range>
concept HostElements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

}  // namespace detail

/// A vector, array, span, PinnedBuffer or any other contiguous range that is read; or nothing. Borrowed until the call
/// that it is passed to returns.
class ConstHostOperand {
 public:
  ConstHostOperand() = default;
  template <class Range>
  requires detail::HostElements<const Range> ConstHostOperand(
      const Range& range)  // NOLINT(google-explicit-constructor)
      : memory_{std::ranges::data(range), std::ranges::size(range),
                data_type_of<std::ranges::range_value_t<const Range>>, true} {}
  [[nodiscard]] const detail::HostMemory& memory() const noexcept { return memory_; }

 private:
  detail::HostMemory memory_;
};

/// The same for a range that is written. One of constant elements does not convert to it, and no temporary container.
class HostOperand {
 public:
  HostOperand() = default;
  template <class Range>
  requires(detail::HostElements<Range>&& std::ranges::borrowed_range<Range> &&
           !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>)
      HostOperand(Range&& range)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : memory_{std::ranges::data(range), std::ranges::size(range), data_type_of<std::ranges::range_value_t<Range>>,
                true} {}
  [[nodiscard]] const detail::HostMemory& memory() const noexcept { return memory_; }

 private:
  detail::HostMemory memory_;
};

}  // namespace tessera
