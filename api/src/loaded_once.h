// What is read from a file once a process, when it is first asked for, and never changes then. No lock: a child of
// fork() must not find one held, and kernels may be made by many threads.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace tessera::detail {

/// Objects of this class are static.
template <class Content>
class LoadedOnce {
 public:
  /// The content for a path, loaded by `load(path)` if it is not the path of the last call. The reference holds for
  /// good: what was loaded stays, because somebody may look at it right now.
  template <class Load>
  const Content& get(const std::string& path, const Load& load) {
    const Node* newest = newest_.load(std::memory_order_acquire);
    if (newest != nullptr && newest->path == path) return newest->content;
    auto fresh = std::make_unique<Node>(Node{path, load(path), newest});
    while (!newest_.compare_exchange_weak(newest, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      // What another thread put there since is at least as new as what was loaded here.
      if (newest != nullptr && newest->path == path) return newest->content;
      fresh->before = newest;
    }
    return fresh.release()->content;
  }

  /// Takes the place of what was loaded.
  const Content& put(const std::string& path, Content content) {
    auto fresh = std::make_unique<Node>(Node{path, std::move(content), newest_.load(std::memory_order_acquire)});
    while (!newest_.compare_exchange_weak(fresh->before, fresh.get(), std::memory_order_acq_rel)) {
    }
    return fresh.release()->content;
  }

 private:
  struct Node {
    std::string path;
    Content content;
    const Node* before;  ///< keeps what came before in reach
  };
  std::atomic<const Node*> newest_{nullptr};
};

}  // namespace tessera::detail
