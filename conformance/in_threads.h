// A loop of an oracle over several threads: elements are computed one by one and know nothing of each other, so that
// the result is the same with any number of threads. The threads are gone when it returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tessera::conformance {

/// Below so many operations, some 5 ms, threads are not worth their start.
inline constexpr double kWorthThreads = 1 << 19;

/// Calls function(i) for every i below `count`, on as many threads as the machine has where the whole asks for so many
/// operations that it pays. Throws what a call throws, the first one.
template <class Function>
void in_threads(std::size_t count, double operations, const Function& function) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) function(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  std::size_t helpers = operations < kWorthThreads ? 1 : std::max(1U, std::thread::hardware_concurrency());
  helpers = std::min(helpers, count) - (count > 0 ? 1 : 0);
  std::vector<std::thread> threads;
  threads.reserve(helpers);
  try {
    while (threads.size() < helpers) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The system has no more threads: those that are there do the work.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace tessera::conformance
