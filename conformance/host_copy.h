// One operand of a run on both sides: in the host's memory, and where the run has it on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "conformance/guarded_buffer.h"
#include "conformance/problem_set.h"

namespace tessera::conformance {

/// Which way an operand goes.
enum class Way : std::uint8_t { in, out, both };

class HostCopy {
 public:
  virtual ~HostCopy() = default;
  [[nodiscard]] virtual Way way() const = 0;
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
  virtual void upload(Queue& queue) = 0;
  virtual void download(Queue& queue) = 0;
  /// The host's memory as before a run: inputs as they are, poison in outputs. On the device poison in inputs, so that
  /// an upload that does nothing is found out.
  virtual void reset(Queue& queue) = 0;
  /// "" if the host holds what the device does, else a sentence. Blocks.
  [[nodiscard]] virtual std::string find_difference(Queue& queue) const = 0;
};

template <class T>
class HostCopyOf final : public HostCopy {
 public:
  /// `buffer` lives as long as this.
  HostCopyOf(const Device& device, const GuardedBuffer<T>& buffer, Way way, HostMemory memory)
      : buffer_(buffer), way_(way) {
    if (memory == HostMemory::pinned) {
      pinned_ = device.allocate_pinned<T>(buffer.size());
    } else {
      ordinary_.resize(buffer.size());
    }
  }

  Way way() const override { return way_; }
  std::size_t size_bytes() const override { return buffer_.size() * sizeof(T); }
  void upload(Queue& queue) override {
    if (pinned_.size() != 0) return queue.upload(buffer_.view(), pinned_);
    queue.upload(buffer_.view(), std::span<const T>(ordinary_));
  }
  void download(Queue& queue) override {
    if (pinned_.size() != 0) return queue.download(buffer_.view(), pinned_);
    queue.download(buffer_.view(), host());
  }
  void reset(Queue& queue) override {
    if (way_ == Way::out) {
      std::fill(host().begin(), host().end(), poison<T>());
    } else {
      std::copy(buffer_.content().begin(), buffer_.content().end(), host().begin());
      queue.fill(buffer_.view(), poison<T>());
    }
  }
  std::string find_difference(Queue& queue) const override {
    const std::vector<T> whole = buffer_.download(queue);
    const std::span<const T> device = buffer_.content_of(whole);
    for (std::size_t i = 0; i < device.size(); ++i) {
      if (std::memcmp(&device[i], &host()[i], sizeof(T)) != 0)
        return "element " + std::to_string(i) + " of " + buffer_.name() + " differs in the host's memory";
    }
    return "";
  }

 private:
  [[nodiscard]] std::span<T> host() const { return pinned_.size() != 0 ? pinned_.span() : std::span<T>(ordinary_); }

  const GuardedBuffer<T>& buffer_;
  Way way_;
  mutable std::vector<T> ordinary_;
  PinnedBuffer<T> pinned_;
};

/// Adds an operand, unless it is empty.
template <class T>
void add_host_copy(HostCopies& copies, const Device& device, const GuardedBuffer<T>& buffer, Way way,
                   HostMemory memory) {
  if (buffer.size() > 0) copies.push_back(std::make_unique<HostCopyOf<T>>(device, buffer, way, memory));
}

}  // namespace tessera::conformance
