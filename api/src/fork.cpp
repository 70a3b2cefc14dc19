// Counts forks by a handler that the C library runs in the child.
#include "fork.h"

#include <pthread.h>

#include <mutex>
#include <new>

namespace tessera::detail {
namespace {

std::atomic<std::uint64_t> depth{0};

void in_child() noexcept {
  depth.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t fork_depth() noexcept {
  return depth.load(std::memory_order_relaxed);
}

void count_forks() {
  static std::mutex mutex;
  static bool counts = false;
  const std::lock_guard lock(mutex);
  if (counts) return;
  if (::pthread_atfork(nullptr, nullptr, in_child) != 0) throw std::bad_alloc();  // its only failure
  counts = true;
}

}  // namespace tessera::detail
