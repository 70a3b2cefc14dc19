// Memory, queue and events of the smallest backend: host memory that is counted, and work that is done at once.
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "backend/backend.h"
#include "backend/sentence.h"

namespace tessera::minimal {

using backend::Slice;

/// How much memory there is and how much is taken. Shared, because buffers may outlive the device.
struct Budget {
  std::mutex mutex;
  std::size_t total = 0;
  std::size_t taken = 0;
};

class Buffer : public backend::Buffer {
 public:
  Buffer(std::shared_ptr<Budget> budget, std::size_t size_bytes) : budget_(std::move(budget)), size_bytes_(size_bytes) {
    const std::lock_guard lock(budget_->mutex);
    if (size_bytes > budget_->total - budget_->taken) {
      throw Error(ErrorCode::out_of_memory,
                  backend::sentence("the minimal device has ", budget_->total - budget_->taken, " of ", budget_->total,
                                    " bytes left, but ", size_bytes, " are asked for"));
    }
    data_ = static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{256}, std::nothrow));
    if (data_ == nullptr) {
      throw Error(ErrorCode::out_of_memory, backend::sentence("the host has no ", size_bytes, " bytes left"));
    }
    budget_->taken += size_bytes;
  }
  ~Buffer() override {
    ::operator delete (data_, std::align_val_t{256});
    const std::lock_guard lock(budget_->mutex);
    budget_->taken -= size_bytes_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<Budget> budget_;
  std::size_t size_bytes_;
  std::byte* data_ = nullptr;
};

inline std::byte* address(const Slice& slice) {
  return static_cast<Buffer*>(slice.buffer)->data() + slice.offset_bytes;
}

class PinnedMemory : public backend::PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t size_bytes) : bytes_(std::make_unique<std::byte[]>(size_bytes)) {}
  [[nodiscard]] void* data() const noexcept override { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

/// The first failure of a queue, shared with its events.
struct Failure {
  std::mutex mutex;
  std::optional<Error> error;
  std::uint64_t command = 0;

  void rethrow() {
    const std::lock_guard lock(mutex);
    if (error) throw Error(*error);
  }
};

class Event : public backend::Event {
 public:
  explicit Event(std::shared_ptr<Failure> failure) : failure_(std::move(failure)) {}
  void wait() override { failure_->rethrow(); }
  [[nodiscard]] bool is_done() override {
    failure_->rethrow();
    return true;
  }
  [[nodiscard]] double seconds_since(backend::Event& start) override {
    return std::chrono::duration<double>(time_ - static_cast<Event&>(start).time_).count();
  }

 private:
  std::shared_ptr<Failure> failure_;
  std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

class Queue : public backend::Queue {
 public:
  void upload(const Slice& destination, const void* host) override {
    run([&] { std::memcpy(address(destination), host, destination.size_bytes); });
  }
  void download(void* host, const Slice& source) override {
    run([&] { std::memcpy(host, address(source), source.size_bytes); });
  }
  void copy(const Slice& destination, const Slice& source) override {
    run([&] { std::memcpy(address(destination), address(source), source.size_bytes); });
  }
  void fill(const Slice& destination, std::span<const std::byte> pattern) override {
    run([&] {
      for (std::size_t i = 0; i < destination.size_bytes; i += pattern.size()) {
        std::memcpy(address(destination) + i, pattern.data(), pattern.size());
      }
    });
  }
  [[nodiscard]] std::unique_ptr<backend::Event> record() override { return std::make_unique<Event>(failure_); }
  void wait(backend::Event& event) override { event.wait(); }
  void finish() override { failure_->rethrow(); }
  [[nodiscard]] bool drain() noexcept override { return true; }  // every call has done its work when it returns
  [[nodiscard]] backend::Suspects suspects() const override { return {failure_->command, failure_->command}; }

  /// Does the work at once; a failure is kept for the next wait, and what comes after it is left out.
  template <class Work>
  void run(const Work& work) {
    const std::lock_guard lock(failure_->mutex);
    if (failure_->error) return;
    try {
      work();
    } catch (const std::exception& error) {
      failure_->error = Error(ErrorCode::internal, backend::sentence("a command throws: ", error.what()));
      failure_->command = command();
    }
  }

 private:
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

}  // namespace tessera::minimal
