// A test that would hang fails instead, and ends its program: what hangs cannot be left.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

namespace tessera::fault {

/// Runs `action` on a thread of its own, and rethrows what it throws.
template <class Action>
void within(std::chrono::seconds limit, const char* what, Action&& action) {
  std::packaged_task<void()> task(std::forward<Action>(action));
  std::future<void> done = task.get_future();
  std::thread thread(std::move(task));
  if (done.wait_for(limit) == std::future_status::timeout) {
    std::fprintf(stderr, "%s hangs\n", what);
    std::_Exit(1);
  }
  thread.join();
  done.get();
}

}  // namespace tessera::fault
