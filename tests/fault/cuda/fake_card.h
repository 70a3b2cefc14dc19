// The card that the fake driver stands in for: its memory, streams and events, and what a test may do to it. Memory is
// host memory, a stream is a thread that works in order, and but a few kernels compute nothing.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fault/cuda/fake_card_controls.h"

namespace tessera::fake {

/// A point on a stream: recorded so many times, and reached so many times.
class Event {
 public:
  std::uint64_t record();
  void reach(std::uint64_t record);
  [[nodiscard]] bool is_reached();
  /// Of the newest record, or of the one named. Returns too when the card has died.
  void wait();
  void wait(std::uint64_t record);
  [[nodiscard]] std::uint64_t recorded();
  [[nodiscard]] std::chrono::steady_clock::time_point time();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  std::uint64_t reached_ = 0;
  std::chrono::steady_clock::time_point time_;
};

/// A line of work with a thread of its own, which ends when the stream was let go of and its work is done.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  void start();
  void push(std::function<void()> work);
  /// Waits for all work, or for the card's death.
  void wait();
  [[nodiscard]] bool is_idle();
  void let_go();
  void wake();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool is_working_ = false;
  bool is_let_go_ = false;
};

/// Blocks of memory by address. Blocks that were freed are kept a while, so that no new one has their address.
class Memory {
 public:
  /// Null if there is none left.
  [[nodiscard]] void* take(std::size_t bytes);
  [[nodiscard]] bool give(void* address);
  /// Does it lie in a block that is taken?
  [[nodiscard]] bool holds(const void* address, std::size_t bytes);
  [[nodiscard]] std::size_t used_bytes();
  void set_limit(std::size_t bytes);

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> blocks_;
  std::deque<std::pair<void*, std::size_t>> freed_;
  std::size_t freed_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  std::size_t limit_bytes_ = std::size_t{4} << 30;
};

/// One function of a module.
struct Function {
  std::string name;
};

struct Module {
  std::mutex mutex;
  std::vector<std::unique_ptr<Function>> functions;
};

struct Card {
  std::atomic<int> dead{0};  ///< what every call answers then
  std::atomic<int> kernel_us{0};
  std::atomic<int> host_function_us{0};
  std::atomic<int> major{9};  ///< its compute capability
  std::atomic<int> minor{0};
  std::atomic<long> misuses{0};
  std::atomic<int> retained{0};
  Memory memory;
  Memory pinned;
  std::mutex streams_mutex;
  std::vector<std::shared_ptr<Stream>> streams;

  /// The program did what no driver allows.
  void note_misuse(const char* what);
  /// Notes a misuse unless all of it is memory of the card.
  [[nodiscard]] bool is_usable(CUdeviceptr address, std::size_t bytes, const char* what);
  [[nodiscard]] std::shared_ptr<Stream> find(CUstream stream);
};

/// Never destroyed: threads of streams may outlive main().
[[nodiscard]] Card& card();

/// What the kernel does, with its arguments copied; nothing for a kernel that is not known here.
[[nodiscard]] std::function<void()> work_of(const Function& function, void** parameters);

}  // namespace tessera::fake
