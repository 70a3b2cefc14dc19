// State of a whole process that a child process of fork() must not touch: another thread of the parent may have held
// its locks at that moment, and they stay locked in the child for ever.
#pragma once

#include <atomic>

#include "fork.h"

namespace tessera::detail {

/// A T that is made when it is first asked for, and never destroyed; in a child process another one. A static object
/// without a destructor of its own. From any thread.
template <class T>
class PerProcess {
 public:
  [[nodiscard]] T& get() {
    Made* known = made_.load(std::memory_order_acquire);
    if (known != nullptr && !known->birthplace.is_elsewhere()) return known->object;
    count_forks();
    auto* const fresh = new Made;
    if (made_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh->object;
    delete fresh;
    return known->object;
  }

 private:
  struct Made {
    Birthplace birthplace;
    T object;
  };
  std::atomic<Made*> made_{nullptr};
};

}  // namespace tessera::detail
