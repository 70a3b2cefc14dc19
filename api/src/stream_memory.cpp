// Sums of what buffers take, as the allocator rounds them.
#include "stream_memory.h"

#include <algorithm>
#include <limits>

#include "allocator.h"
#include "backend/sentence.h"
#include "kernel_core.h"

namespace tessera::detail {

using backend::sentence;

void StreamNeed::add(std::string_view name, std::int64_t buffers, std::uint64_t size_bytes) {
  if (buffers == 0) return;
  const std::uint64_t capacity = Allocator::capacity_of(size_bytes);
  parts_.push_back(buffers == 1 ? sentence(name, " ", capacity) : sentence(name, " ", buffers, " x ", capacity));
  total_bytes_ += static_cast<std::uint64_t>(buffers) * capacity;
  largest_buffer_bytes_ = std::max(largest_buffer_bytes_, capacity);
}

void StreamNeed::add_workspace(const KernelInfo& kernel) {
  const std::size_t bytes =
      kernel.prepared_bytes == 0 ? kernel.workspace_bytes : prepared_offset(kernel) + kernel.prepared_bytes;
  add("workspace", bytes == 0 ? 0 : 1, bytes);
}

std::string StreamNeed::text() const {
  return sentence(backend::enumerate(parts_), " bytes");
}

StreamLimit::StreamLimit(DeviceCore& device, const StreamOptions& options)
    : device_(device.id()), is_given_(options.memory_bytes != 0), size_bytes_(options.memory_bytes) {
  const DeviceInfo info = device.info();
  largest_buffer_bytes_ =
      info.max_allocation_bytes != 0 ? info.max_allocation_bytes : std::numeric_limits<std::uint64_t>::max();
  if (is_given_) return;
  // A device that does not say what is free may have all of it.
  const std::uint64_t free_bytes = info.memory_free_bytes != 0 ? info.memory_free_bytes : info.memory_total_bytes;
  size_bytes_ = free_bytes != 0 ? free_bytes / 10 * 9 : std::numeric_limits<std::uint64_t>::max();
}

bool StreamLimit::holds(const StreamNeed& need) const noexcept {
  return need.total_bytes() <= size_bytes_ && need.largest_buffer_bytes() <= largest_buffer_bytes_;
}

Error StreamLimit::refusal(std::string_view operator_name, std::string_view cut, const StreamNeed& need) const {
  const std::string needs = sentence(operator_name, " with ", cut, " needs ", need.total_bytes(), " bytes on ", device_,
                                     " (", need.text(), ")");
  if (need.total_bytes() <= size_bytes_) {
    return {ErrorCode::out_of_memory, sentence(needs, ", but a buffer there holds at most ", largest_buffer_bytes_)};
  }
  if (is_given_) return {ErrorCode::invalid_argument, sentence(needs, ", but memory_bytes is ", size_bytes_)};
  return {ErrorCode::out_of_memory, sentence(needs, ", but nine tenths of what is free there are ", size_bytes_)};
}

}  // namespace tessera::detail
