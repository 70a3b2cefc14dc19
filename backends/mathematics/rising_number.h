// A number that several threads raise and that never falls: how far a queue is known to be.
#pragma once

#include <atomic>
#include <cstdint>

namespace tessera::mathematics {

/// Raises `number` to `to`, unless it is there or beyond.
inline void raise(std::atomic<std::uint64_t>& number, std::uint64_t to) noexcept {
  std::uint64_t known = number.load();
  while (known < to && !number.compare_exchange_weak(known, to)) {
  }
}

}  // namespace tessera::mathematics
