// Memory, queue and events of the scripted backend: host memory, and a thread for each queue that runs commands in
// order once the script lets it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "script.h"

namespace tessera::scripted {

using backend::Slice;

/// The script of this process.
[[nodiscard]] Script& script();

class Buffer : public backend::Buffer {
 public:
  explicit Buffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
    script().pass(Call::allocate);
    bytes_ = std::make_unique<std::byte[]>(size_bytes);
    std::size_t taken = script().taken_bytes.load();
    do {
      if (size_bytes > script().memory_bytes - std::min<std::size_t>(taken, script().memory_bytes)) {
        throw Error(ErrorCode::out_of_memory, "the scripted memory is full");
      }
    } while (!script().taken_bytes.compare_exchange_weak(taken, taken + size_bytes));
    ++script().buffers;
  }
  ~Buffer() override {
    if (uses_.load() != 0) ++script().violations;
    script().taken_bytes -= size_bytes_;
    --script().buffers;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.get(); }
  void use(int change) noexcept { uses_ += change; }

 private:
  std::size_t size_bytes_;
  std::unique_ptr<std::byte[]> bytes_;
  std::atomic<int> uses_{0};
};

inline Buffer* buffer_of(const Slice& slice) {
  return static_cast<Buffer*>(slice.buffer);
}
inline std::byte* address(const Slice& slice) {
  return buffer_of(slice)->data() + slice.offset_bytes;
}

class PinnedMemory : public backend::PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t size_bytes) : bytes_((script().pass(Call::allocate_pinned), size_bytes)) {
    ++script().pinned;
  }
  ~PinnedMemory() override { --script().pinned; }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  [[nodiscard]] void* data() const noexcept override { return const_cast<std::byte*>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

/// What a queue's thread tells an event.
struct Reached {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
};

class Event : public backend::Event {
 public:
  explicit Event(std::shared_ptr<Reached> reached) : reached_(std::move(reached)) { ++script().events; }
  ~Event() override { --script().events; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void wait() override {
    script().pass(Call::wait);
    std::unique_lock lock(reached_->mutex);
    reached_->changed.wait(lock, [this] { return reached_->is_done; });
  }
  [[nodiscard]] bool is_done() override {
    script().pass(Call::poll);
    const std::lock_guard lock(reached_->mutex);
    return reached_->is_done;
  }
  [[nodiscard]] double seconds_since(backend::Event& /*start*/) override { return 0; }
  [[nodiscard]] const std::shared_ptr<Reached>& reached() const noexcept { return reached_; }

 private:
  std::shared_ptr<Reached> reached_;
};

class Queue : public backend::Queue {
 public:
  Queue() {
    script().pass(Call::make_queue);
    worker_ = std::thread([this] { serve(); });
    ++script().queues;
  }
  ~Queue() override {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    worker_.join();
    --script().queues;
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Accepts a command, and then fails if the script wants that: as a command of several parts does, of which one is
  /// refused.
  void submit(std::initializer_list<Slice> slices, std::function<void()> work) {
    std::vector<Buffer*> used;
    for (const Slice& slice : slices) used.push_back(buffer_of(slice));
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back({std::move(work), std::move(used)});
      for (Buffer* buffer : commands_.back().used) buffer->use(+1);
      ++script().commands;
    }
    changed_.notify_all();
    script().pass(Call::enqueue);
  }

  void upload(const Slice& to, const void* host) override {
    submit({to}, [to, host] { std::memcpy(address(to), host, to.size_bytes); });
  }
  void download(void* host, const Slice& from) override {
    submit({from}, [from, host] { std::memcpy(host, address(from), from.size_bytes); });
  }
  void copy(const Slice& to, const Slice& from) override {
    submit({to, from}, [to, from] { std::memcpy(address(to), address(from), to.size_bytes); });
  }
  void fill(const Slice& to, std::span<const std::byte> pattern) override {
    std::vector<std::byte> value(pattern.begin(), pattern.end());
    submit({to}, [to, value] {
      for (std::size_t i = 0; i < to.size_bytes; i += value.size()) {
        std::memcpy(address(to) + i, value.data(), value.size());
      }
    });
  }
  [[nodiscard]] std::unique_ptr<backend::Event> record() override {
    script().pass(Call::record);
    auto reached = std::make_shared<Reached>();
    auto event = std::make_unique<Event>(reached);
    push([reached] {
      const std::lock_guard lock(reached->mutex);
      reached->is_done = true;
      reached->changed.notify_all();
    });
    return event;
  }
  void wait(backend::Event& event) override {
    submit({}, [reached = static_cast<Event&>(event).reached()] {
      std::unique_lock lock(reached->mutex);
      reached->changed.wait(lock, [&] { return reached->is_done; });
    });
  }
  void finish() override {
    script().pass(Call::finish);
    wait_until_idle();
  }
  [[nodiscard]] bool drain() noexcept override {
    if (!script().answers(Call::drain)) return false;
    wait_until_idle();
    return true;
  }
  [[nodiscard]] backend::Suspects suspects() const override { return {command(), command()}; }

 private:
  struct Command {
    std::function<void()> work;
    std::vector<Buffer*> used;
  };

  void push(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back({std::move(work), {}});
      ++script().commands;
    }
    changed_.notify_all();
  }
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return commands_.empty(); });
  }
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_closing_ || !commands_.empty(); });
      if (commands_.empty()) return;
      lock.unlock();
      script().wait_at_gate();
      Command& command = commands_.front();  // stays in the deque, and so counts as running, until its work is done
      command.work();
      for (Buffer* buffer : command.used) buffer->use(-1);
      lock.lock();
      commands_.pop_front();
      --script().commands;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  bool is_closing_ = false;
  std::thread worker_;
};

}  // namespace tessera::scripted
