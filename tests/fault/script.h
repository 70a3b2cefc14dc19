// What a test tells the scripted backend to do, and what it learns from it. Shared by the plug-in and the test program.
#pragma once

#include <tessera/error.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::scripted {

/// The calls of the seam that can be told to fail.
enum class Call : std::uint8_t {
  allocate,
  allocate_pinned,
  make_queue,
  make_kernel,
  enqueue,
  record,
  poll,
  wait,
  finish,
  drain
};

/// One object for the process. All functions may be called from any thread.
class Script {
 public:
  /// Everything as at the start: nothing fails, nothing is held, full memory.
  void reset() {
    const std::lock_guard lock(mutex_);
    failures_.clear();
    is_held_ = false;
    memory_bytes = kMemoryBytes;
    violations = 0;
    changed_.notify_all();
  }

  /// The next `times` calls of the kind fail with this code; of drain() they answer false.
  void fail(Call call, ErrorCode code, int times = kForGood) {
    const std::lock_guard lock(mutex_);
    failures_[call] = {code, times};
  }
  void mend(Call call) {
    const std::lock_guard lock(mutex_);
    failures_.erase(call);
  }
  /// Commands are accepted and do not run until release().
  void hold() {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }

  /// For the backend: throws if the call is to fail.
  void pass(Call call) {
    const std::lock_guard lock(mutex_);
    if (takes_failure(call)) throw Error(last_code_, "the script wants this call to fail");
  }
  [[nodiscard]] bool answers(Call call) {
    const std::lock_guard lock(mutex_);
    return !takes_failure(call);
  }
  /// For the backend's threads: blocks while commands are held.
  void wait_at_gate() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_held_; });
  }

  static constexpr int kForGood = 1 << 30;
  static constexpr std::size_t kMemoryBytes = 1 << 20;

  std::atomic<std::size_t> memory_bytes{kMemoryBytes};  ///< that all devices take from together
  std::atomic<std::size_t> taken_bytes{0};
  std::atomic<std::size_t> scratch_bytes{0};  ///< that the backend says it holds, and gives back by trim()
  std::atomic<int> buffers{0};                ///< alive, as the next ones
  std::atomic<int> pinned{0};
  std::atomic<int> queues{0};
  std::atomic<int> events{0};
  std::atomic<int> kernels{0};
  std::atomic<int> commands{0};    ///< accepted and not yet run
  std::atomic<int> violations{0};  ///< memory freed while a command was to use it
  std::atomic<bool> is_lost{false};

 private:
  struct Failure {
    ErrorCode code = ErrorCode::internal;
    int times = 0;
  };
  bool takes_failure(Call call) {
    const auto found = failures_.find(call);
    if (found == failures_.end() || found->second.times == 0) return false;
    --found->second.times;
    last_code_ = found->second.code;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Call, Failure> failures_;
  ErrorCode last_code_ = ErrorCode::internal;
  bool is_held_ = false;
};

/// The type of the plug-in's symbol `tessera_script`.
using ScriptFunction = Script* (*)();

}  // namespace tessera::scripted
