// What a stream may take of a device's memory, and what a way of cutting needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/kernel.h>
#include <tessera/stream.h>

#include "device_core.h"

namespace tessera::detail {

/// The memory that one way of cutting a problem takes: buffers by name, and a workspace.
class StreamNeed {
 public:
  /// So many buffers of this size.
  void add(std::string_view name, std::int64_t buffers, std::uint64_t size_bytes);
  /// The workspace of a queue that runs this kernel, and prepares raw weights in it.
  void add_workspace(const KernelInfo& kernel);

  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  [[nodiscard]] std::uint64_t largest_buffer_bytes() const noexcept { return largest_buffer_bytes_; }
  /// "training 2 x 4096 bytes, workspace 512 bytes"
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> parts_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t largest_buffer_bytes_ = 0;
};

class StreamLimit {
 public:
  /// What the program said, or what the device has free.
  StreamLimit(DeviceCore& device, const StreamOptions& options);

  [[nodiscard]] bool holds(const StreamNeed& need) const noexcept;
  /// `cut` says what the smallest way of cutting is: "4096 training rows and 2048 queries at a time".
  [[nodiscard]] Error refusal(std::string_view operator_name, std::string_view cut, const StreamNeed& need) const;
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::string device_;
  bool is_given_;
  std::uint64_t size_bytes_;
  std::uint64_t largest_buffer_bytes_;
};

/// The largest number from `least` to `most` of which `fits` says yes, in whole multiples of `unit` but for `most`
/// itself; 0 if `least` does not fit. Where one fits, smaller ones nearly always do: the one that is returned fits for
/// certain. Asks a few times only.
template <class Fits>
[[nodiscard]] std::int64_t largest_that_fits(std::int64_t least, std::int64_t most, std::int64_t unit,
                                             const Fits& fits) {
  if (fits(most)) return most;
  if (least >= most || !fits(least)) return 0;
  // In units: `low` fits, `high` does not.
  std::int64_t low = least / unit;
  std::int64_t high = (most + unit - 1) / unit;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle * unit) ? low : high) = middle;
  }
  return low * unit;
}

}  // namespace tessera::detail
